-- Reads members with unsaved changes of a guild that is about to be loaded anew, and makes the hydration's lock last longer.
--
-- KEYS     meta lock, xp entry, stat and user of the format before
-- ARGV     incarnation, token, how long the lock lasts in ms, members...
-- returns  {rev, {xp | nil, ...}, {entry | nil, ...}, epoch, what is known to be archived, or on its way} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'rev', 'epoch', 'format', 'archived', 'pending')
local xp, entry = entries(3, ARGV, 4)
if not meta[3] then
  local stat, user = redis.call('HMGET', KEYS[5], unpack(ARGV, 4)), redis.call('HMGET', KEYS[6], unpack(ARGV, 4))
  for i = 1, #xp do entry[i] = (stat[i] or '0 0 0') .. (user[i] and ' ' .. user[i] or '') end
end
local pending = meta[5] and tonumber(meta[5]) > tonumber(meta[4]) and meta[5]
return {meta[1], xp, entry, meta[2], pending or meta[4]}
