-- Gives members XP for their messages. What is read and written of all of them goes in one command each.
--
-- KEYS     meta xp stat user dirty events, record as in once.lua
-- ARGV     incarnation, cooldown in ms, n (at most 1000), whether user data follows (1 or 0), n members, each once, n lists of
--          what the messages are worth ("20", or "20 15 0"), with user data n times user data or "", what levelup.lua takes,
--          what once.lua takes
-- returns  {outcome, first as in create.lua} | {REPLAYED, outcome} | NOTLOADED | KEYREUSED | CLAIMLOST, where the outcome has
--          for each member XP before, message count before and what each message gave, all with a space between
-- atomic   all members, the guild's rev, the note for the snapshot, the events and the record
local max_xp = 2147483647
local cooldown, n = tonumber(ARGV[2]), tonumber(ARGV[3])
local from, to = 5, 4 + n
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, from, to))
local stats = redis.call('HMGET', KEYS[3], unpack(ARGV, from, to))
local users
if ARGV[4] == '1' then users = redis.call('HMGET', KEYS[4], unpack(ARGV, from, to)) end

-- Nothing is written before everything was read, so that a damaged value stops the script while nothing has changed.
local time = now()
local xps, starts, newstats, newusers, outcome = {}, {}, {}, {}, {}
for i = 1, n do
  local member, stat, before = ARGV[4 + i], stats[i], scores[i]
  local xp, count, ends = 0, 0, 0
  if before then
    xp = tonumber(before) or score(before)
  else
    before = '0'
  end
  if stat then
    local c, e = string.match(stat, '^(%d+) %d+ (%d+)$')
    if not c then return redis.error_reply('ERR a stat is not three whole numbers') end
    count, ends = tonumber(c), tonumber(e)
  end
  local start, out = xp, {}
  local offers, messages = ARGV[to + i], 0
  for offer in string.gmatch(offers, '%d+') do
    local gain = 0
    if time >= ends then
      gain = math.min(tonumber(offer), max_xp - xp)
      if gain > 0 then
        xp = xp + gain
        if cooldown > 0 then ends = time + cooldown end
      end
    end
    messages = messages + 1
    out[messages] = gain
  end
  outcome[i] = start .. ' ' .. count .. ' ' .. table.concat(out, ' ')
  if xp ~= start or not scores[i] then
    xps[#xps + 1], xps[#xps + 2] = xp, member
    starts[#starts + 1] = start
  end
  newstats[2 * i - 1], newstats[2 * i] = member, (count + messages) .. ' ' .. time .. ' ' .. ends
  if users then
    local user = ARGV[to + n + i]
    if user ~= '' and user ~= users[i] then
      newusers[#newusers + 1], newusers[#newusers + 2] = member, user
    end
  end
end

if #xps > 0 then redis.call('ZADD', KEYS[2], unpack(xps)) end
redis.call('HSET', KEYS[3], unpack(newstats))
if #newusers > 0 then redis.call('HSET', KEYS[4], unpack(newusers)) end
for i = 1, #starts do levelup(xps[2 * i], starts[i], xps[2 * i - 1]) end
outcome = table.concat(outcome, ' ')
record(outcome)
return {outcome, note(from, to)}
