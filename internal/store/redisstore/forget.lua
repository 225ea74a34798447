-- Removes records of requests that are older than they last, a part of a guild's records at a time; of each guild once an hour. A field ' '
-- says how far it is: a cursor, and when it begins again.
--
-- KEYS     records
-- ARGV     how long a record lasts in ms, how many records are looked at, or all of a small guild
-- returns  {1 when there is more to look at now, else 0}
-- atomic   each part; no request is recorded under a name meanwhile whose record goes
local cursor, due = string.match(redis.call('HGET', KEYS[1], ' ') or '0 0', '^(%d+) (%d+)$')
if redis.call('HLEN', KEYS[1]) < 2 or tonumber(due) > now() then return {0} end
local part, old = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', ARGV[2]), {}
for i = 1, #part[2], 2 do
  local made = string.match(part[2][i + 1], '^(%d+) %S+ ')
  if #part[2][i] > 1 and made and now() - tonumber(made) > tonumber(ARGV[1]) then old[#old + 1] = part[2][i] end
end
if #old > 0 then redis.call('HDEL', KEYS[1], unpack(old)) end
local more = part[1] ~= '0'
redis.call('HSET', KEYS[1], ' ', part[1] .. ' ' .. string.format('%.0f', more and 0 or now() + 3600000))
return {more and 1 or 0}
