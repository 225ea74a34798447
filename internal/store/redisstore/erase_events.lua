-- Takes the events that name a user out of a part of a log, those of closed periods that the user was a winner of included.
--
-- KEYS     events
-- ARGV     member, from which id on, of how many entries
-- returns  {'last', the id of the last entry, or '' when there are no more}
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
