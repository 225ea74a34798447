-- Changes the XP of a member: adds to it or sets it, within 0 and the highest there is, and may begin a cooldown.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member, 'add' or 'set', amount, how long the cooldown lasts that begins in ms (0: none does)
-- returns  {'before', XP, 'after', XP, 'count', messages} | {'replayed', 'before after count'} | NOTLOADED | NOMEMBER | NOTPRESENT |
--          KEYREUSED | ASKARCHIVE
-- atomic   the XP, the gains, the last update, the cooldown, the guild's rev, the note for the snapshot, the event, the record and the
--          journal
local meta_key, xp_key, off_key, entry_key, dirty_key, events_key, journal_key, once_key = unpack(KEYS, 1, 8)
local _, days, curve, audit, name, request, past, ttl, member, op, amount, cooldown = unpack(ARGV)
local keyed = {name = name, request = request, past = past, ttl = ttl}

local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local time = now()
local answer = replayed(meta_key, once_key, keyed, time)
if answer then return answer end

-- The member, before and after. Nothing is written before everything was read.
local score = redis.call('ZMSCORE', xp_key, member)[1]
if not score then return redis.call('ZMSCORE', off_key, member)[1] and 'NOTPRESENT' or 'NOMEMBER' end
local before = score + 0
local count, cooldown_end, gains, user = fields(redis.call('HGET', entry_key, member))
if not count or before ~= clamp(before) or before % 1 ~= 0 then return redis.error_reply("ERR a member's entry is damaged") end
local after = clamp((op == 'set' and 0 or before) + amount)
if cooldown ~= '0' then cooldown_end = time + cooldown end

-- XP, and the gain on this day. An amount is clamped before it is added: the sorted set is the counter.
if op == 'set' then
  redis.call('ZADD', xp_key, after, member)
elseif after ~= before then
  local gain = after - before
  local day, open = open_boards(meta_key, boards, days, time)
  gains, day = earned(dirty_key, member, gains, day, gain)
  count_gain(meta_key, open, member, day, gain)
  redis.call('ZINCRBY', xp_key, gain, member)
end
redis.call('HSET', entry_key, member, entry_text(count, time, cooldown_end, gains, user))
if leveled(read_curve(curve), before, after) then event(meta_key, events_key, 'u', member, 'b', before, 'a', after) end

-- What the snapshot, a repeat of the request and the audit log need.
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
local outcome = before .. ' ' .. after .. ' ' .. count
record(journal_key, once_key, keyed, audit, {rev = rev, users = member, outcome = outcome, before = before, after = after})
return {'before', before, 'after', after, 'count', count}
