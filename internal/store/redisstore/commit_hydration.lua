-- Moves the staging keys of a hydration into place, over whatever was there, writes meta, and puts into the log of events that
-- some may be missing before: whatever made it necessary to load the guild, some of the log may be lost as well. Not when the
-- last in the log is that this server let the guild go, one load ago: then nothing can have happened since. Where there is no log,
-- the mark waits in meta for the first event (changing.lua): a stream takes 4 KB from its first entry on, twice what a small guild does.
--
-- KEYS     meta lock, xp entry dirty, staged xp, staged entry, events
-- ARGV     incarnation, token, epoch, archived
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
if not locked() then return 'HYDRATIONLOST' end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
for i = 6, 7 do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('RENAME', KEYS[i], KEYS[i - 3])
    redis.call('PERSIST', KEYS[i - 3])
  end
end
redis.call('HSET', KEYS[1], 'incarnation', ARGV[1], 'epoch', ARGV[3], 'rev', ARGV[4], 'archived', ARGV[4], 'server', SERVER,
  'format', FORMAT, 'used', now())
local last = redis.call('XREVRANGE', KEYS[8], '+', '-', 'COUNT', 1)[1]
local mark = last and last[2]
local whole = mark and mark[1] == 'e' and tonumber(mark[2]) + 1 == tonumber(ARGV[3]) and mark[4] == SERVER
if not last then
  redis.call('HSET', KEYS[1], 'marked', now())
elseif not whole then
  append(KEYS[8], '*', 'r', ARGV[3])
end
return {}
