-- Takes the events that name a user out of a part of a log, those of closed periods that the user was a winner of included.
--
-- KEYS     events
-- ARGV     member, from which id on, of how many entries
-- returns  {the id of the last entry, or '' when there are no more}
-- atomic   the part
local part, gone = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', ARGV[3]), {}
for i = 1, #part do
  local fields, named = part[i][2], false
  for j = 1, #fields, 2 do
    local value = fields[j + 1]
    if value == ARGV[1] or fields[j] == 'p' and string.find(value, '"' .. ARGV[1] .. '"', 1, true) then named = true end
  end
  if named then gone[#gone + 1] = part[i][1] end
end
if #gone > 0 then redis.call('XDEL', KEYS[1], unpack(gone)) end
return {#part == tonumber(ARGV[3]) and part[#part][1] or ''}
