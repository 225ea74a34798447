-- Moves the staging keys of a hydration into place, over whatever was there, writes meta, and puts into the log of events that
-- some may be missing before: whatever made it necessary to load the guild, some of the log may be lost as well. Not when the
-- last in the log is that this server let the guild go, one load ago: then nothing can have happened since. Where nothing is in the log,
-- the mark waits in meta for the first event (changing.lua): a stream takes 4 KB from its first entry on, twice what a small guild does.
-- Records of requests may be missing likewise, and then the archive is asked for as long as they last (changing.lua).
--
-- KEYS     meta lock, xp entry dirty, events, journal, records, boards of the day, week, month and season; staged xp, staged entry, staged boards
-- ARGV     incarnation, token, epoch, archived, how long a record lasts in ms, 'boards' of meta as in counting.lua, or '' when no member has gains, and
--          for each board the sum of what is above 0 of those who are present
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
if not locked() then return 'HYDRATIONLOST' end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[7], unpack(KEYS, 9, 12))
local into = {KEYS[3], KEYS[4], unpack(KEYS, 9, 12)}
for i = 1, #into do
  if redis.call('EXISTS', KEYS[12 + i]) == 1 then
    redis.call('RENAME', KEYS[12 + i], into[i])
    redis.call('PERSIST', into[i])
  end
end
redis.call('HSET', KEYS[1], 'incarnation', ARGV[1], 'epoch', ARGV[3], 'rev', ARGV[4], 'archived', ARGV[4], 'server', SERVER,
  'format', FORMAT, 'used', now())
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[1], 'boards', ARGV[6], 'gained:day', ARGV[7], 'gained:week', ARGV[8], 'gained:month', ARGV[9], 'gained:season', ARGV[10])
end
local last = redis.call('XREVRANGE', KEYS[6], '+', '-', 'COUNT', 1)[1]
local mark = last and last[2]
local whole = mark and mark[1] == 'e' and tonumber(mark[2]) + 1 == tonumber(ARGV[3]) and mark[4] == SERVER
redis.call('PERSIST', KEYS[6])
if not last then
  redis.call('HSET', KEYS[1], 'marked', now())
elseif not whole then
  append(KEYS[6], '*', 'r', ARGV[3])
end

local head = redis.call('HGET', KEYS[8], '')
local incarnation, ask, epoch, server = string.match(head or '', '^(%d+) (%+?%d+) ?(%d*) ?(.*)$')
if incarnation ~= ARGV[1] or server ~= SERVER or tonumber(epoch) + 1 ~= tonumber(ARGV[3]) then
  ask = ARGV[3] == '1' and '0' or string.format('%.0f', now() + ARGV[5]) -- what was never loaded before has lost nothing
end
redis.call('HSET', KEYS[8], '', ARGV[1] .. ' ' .. ask)
redis.call('PERSIST', KEYS[8])
return {}
