-- Changes a member's XP, within 0 and the highest XP there is.
--
-- KEYS     meta xp stat user dirty events, record as in once.lua
-- ARGV     incarnation, member, operation (increment, decrement, set), amount, cooldown in ms (0: leave it as it is),
--          what levelup.lua takes, what once.lua takes
-- returns  {xp before, xp after, message count, first as in create.lua} | {REPLAYED, 'before after count'} | NOTLOADED |
--          KEYREUSED | CLAIMLOST | NOMEMBER
-- atomic   the XP, the last update, the cooldown, the guild's rev, the note for the snapshot, the event and the record
local max_xp = 2147483647
local member, op, amount, cooldown = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

local before = redis.call('ZSCORE', KEYS[2], member)
if not before then return 'NOMEMBER' end
before = score(before)
-- Read before anything is written, so that a damaged value stops the script while nothing has changed.
local count, ends = string.match(redis.call('HGET', KEYS[3], member) or '0 0 0', '^(%d+) %d+ (%d+)$')
if not count then return redis.error_reply('ERR a stat is not three whole numbers') end

local after = amount
if op == 'set' then
  redis.call('ZADD', KEYS[2], after, member)
else
  local delta = math.min(amount, max_xp - before)
  if op == 'decrement' then delta = -math.min(amount, before) end
  after = before + delta
  redis.call('ZINCRBY', KEYS[2], delta, member)
end

local time = now()
if cooldown > 0 then ends = time + cooldown end
redis.call('HSET', KEYS[3], member, count .. ' ' .. time .. ' ' .. ends)
levelup(member, before, after)
record(before, after, count)
return {before, after, tonumber(count), note(2, 2)}
