-- Notes that the archive has committed a batch of that rev: `archived` rises, never falls, and `pending` is cleared when it is
-- not above. What else is named goes from meta too.
-- KEYS[1] meta; after epoch.lua and put.lua.
local function archive(committed, ...)
  if tonumber(committed) > tonumber(archived) then put('archived', committed) end
  local gone = {...}
  if pending and tonumber(pending) <= tonumber(committed) then gone[#gone + 1] = 'pending' end
  if #gone > 0 then redis.call('HDEL', KEYS[1], unpack(gone)) end
end
