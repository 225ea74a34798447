-- What is left in Redis of the record of a request once the archive has it (forget.lua): that it was made. A field of the records, for the names of an
-- incarnation that begin with two characters and one of a quarter of all, has 12 characters for each: the third to the tenth, and when it was made, in
-- minutes since 1970, of which four hex digits stay. They are about in the order of time. Longer fields would take longer to read, as Redis hashes each
-- string that a script gets; more fields would take longer to move with their slot. After now.lua.
local function packedfield(incarnation, name) return incarnation .. ' ' .. string.sub(name, 1, 2) .. string.byte(name, 3) % 4 end

-- Says whether the request at a place of a packed field was made too long ago. One of after now was not: clocks go back.
local function lapsed(text, at)
  local age = (math.floor(now() / 60000) - tonumber(string.sub(text, at + 8, at + 11), 16)) % 65536
  return age > ONCE_TTL / 60000 and age < 65536 - ONCE_TTL / 60000
end

-- Says whether a packed field has the name of a request that was not made too long ago.
local function holds(text, name)
  local wanted = string.sub(name, 3, 10)
  local at = string.find(text, wanted, 1, true)
  while at do
    if at % 12 == 1 and not lapsed(text, at) then return true end
    at = string.find(text, wanted, at + 1, true)
  end
  return false
end
