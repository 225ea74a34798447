-- Removes the events that name a user from a part of a log, also those of closed periods with the user among the winners.
--
-- KEYS     events
-- ARGV     member, the first id, how many entries to look at
-- returns  {'last', the id of the last entry looked at, or '' at the end of the log}
-- atomic   the part
local events_key = KEYS[1]
local user, from, size = unpack(ARGV)
local part, gone = redis.call('XRANGE', events_key, from, '+', 'COUNT', size), {}
for i = 1, #part do
  local fields, named = part[i][2], false
  for j = 1, #fields, 2 do
    local value = fields[j + 1]
    if value == user or fields[j] == 'p' and string.find(value, '"' .. user .. '"', 1, true) then named = true end
  end
  if named then gone[#gone + 1] = part[i][1] end
end
if #gone > 0 then redis.call('XDEL', events_key, unpack(gone)) end
return {'last', #part == size + 0 and part[#part][1] or ''}
