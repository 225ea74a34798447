-- Moves the staging keys of a hydration into place, over whatever was there, writes meta, and puts into the log of events that
-- some may be missing before: whatever made it necessary to load the guild, some of the log may be lost as well.
--
-- KEYS     meta lock, xp entry dirty, staged xp, staged entry, the prefix of the names of sets aside, events, stat and
--          user of the format before
-- ARGV     incarnation, token, epoch, archived
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
local flush = redis.call('HGET', KEYS[1], 'flushing')
if flush then redis.call('UNLINK', KEYS[8] .. flush) end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[10], KEYS[11])
for i = 6, 7 do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('RENAME', KEYS[i], KEYS[i - 3])
    redis.call('PERSIST', KEYS[i - 3])
  end
end
redis.call('HSET', KEYS[1], 'incarnation', ARGV[1], 'epoch', ARGV[3], 'rev', ARGV[4], 'archived', ARGV[4], 'server', SERVER, 'format', FORMAT)
event(KEYS[9], 'r', ARGV[3])
return {}
