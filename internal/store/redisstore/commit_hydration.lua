-- Moves the staging keys of a hydration into place, replaces the guild's keys, and writes meta.
--
-- KEYS     meta lock dirty journal events evicted hidden, xp off entry and the boards of day, week, month and season, those seven staged
-- ARGV     incarnation, token, epoch, archived, how long a record lasts in ms, 'boards' of meta as in boards.lua, or '' when no member has
--          gains, and for each board the sum of the gains above 0 of members who are present
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
local meta_key, lock_key, dirty_key, journal_key, events_key, evicted_key = unpack(KEYS, 1, 6)
local incarnation, _, epoch, archived, record_ms, boards, day, week, month, season = unpack(ARGV)
if not locked() then return 'HYDRATIONLOST' end
local time = now()
redis.call('UNLINK', meta_key, lock_key, dirty_key, journal_key, unpack(KEYS, 7, 14)) -- hide.lua copies the flags later
for i = 8, 14 do
  if redis.call('EXISTS', KEYS[7 + i]) == 1 then
    redis.call('RENAME', KEYS[7 + i], KEYS[i])
    redis.call('PERSIST', KEYS[i])
  end
end
redis.call('HSET', meta_key, 'incarnation', incarnation, 'epoch', epoch, 'rev', archived, 'archived', archived, 'server', SERVER,
  'format', FORMAT, 'used', time)
if boards ~= '' then
  redis.call('HSET', meta_key, 'boards', boards, 'gained:1', day, 'gained:2', week, 'gained:3', month, 'gained:4', season)
end

-- The log of events may have lost some, and gets a mark that says so, unless it ends with the mark that this server evicted the guild one
-- load ago (evict.lua). For an empty log the mark waits in meta (event.lua): a stream takes 4 KB, twice a small guild.
local last = redis.call('XREVRANGE', events_key, '+', '-', 'COUNT', 1)[1]
local mark = last and last[2]
local whole = mark and mark[1] == 'e' and mark[2] + 1 == epoch + 0 and mark[4] == SERVER
redis.call('PERSIST', events_key)
if not last then
  redis.call('HSET', meta_key, 'marked', time)
elseif not whole then
  redis.call('XADD', events_key, 'MAXLEN', '~', KEPT_EVENTS, '*', 'r', epoch)
end

-- Records of requests may be lost too. Until the last would have expired, ask the archive (request.lua).
local evicted = redis.call('GET', evicted_key) or ''
local of, ask, left, server = string.match(evicted, '^(%d+) (%d+) (%d+) (.*)$')
if of ~= incarnation or server ~= SERVER or left + 1 ~= epoch + 0 then ask = epoch == '1' and 0 or time + record_ms end
redis.call('HSET', meta_key, 'ask', ask)
redis.call('UNLINK', evicted_key)
return {}
