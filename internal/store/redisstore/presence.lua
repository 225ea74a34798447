-- Takes members off the board, or brings them back with all that they had. Leaves members alone that are already where they should be.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua, without a name; 'back' or 'away', members (at most 1000), each once
-- returns  {'changed', how many, 'missing', {members without an entry}} | NOTLOADED
-- atomic   all members, the guild's rev, the note for the snapshot, the events and the journal
local to, members = ARGV[10], {unpack(ARGV, 11)}
local on, off = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('ZMSCORE', off_key, unpack(members))
local entries, hidden = redis.call('HMGET', entry_key, unpack(members)), redis.call('HMGET', hidden_key, unpack(members))
local state = to == 'away' and 'a' or ''

-- Read everything before the first write.
local changed, missing, texts, seats = {}, {}, {}, {}
for i = 1, #members do
  local score = on[i] or off[i]
  local count, cooldown_end, absent, gains, user = fields(score and entries[i])
  if not count then return redis.error_reply("ERR a member's entry is damaged") end
  if not score then
    missing[#missing + 1] = members[i]
  elseif absent ~= state then
    changed[#changed + 1] = members[i]
    texts[2 * #changed - 1], texts[2 * #changed] = members[i], entry_text(count, time, cooldown_end, state, gains, user)
    seats[#changed] = {from = on[i] and xp_key or off_key, to = seat(state, hidden[i]), hidden = hidden[i],
      xp = string.format('%.0f', score + 0)}
  end
end
if #changed == 0 then return {'changed', 0, 'missing', missing} end

redis.call('HSET', entry_key, unpack(texts))
for i = 1, #changed do
  local member, s = changed[i], seats[i]
  if to == 'back' then event(meta_key, events_key, s.hidden, 'i', member, 'a', s.xp) end
  if to == 'away' then event(meta_key, events_key, s.hidden, 'o', member) end
  if s.from ~= s.to then
    redis.call('ZREM', s.from, member)
    redis.call('ZADD', s.to, s.xp, member)
    move_on_boards(member, to)
  end
end
rev = note(meta_key, dirty_key, rev, since, pending, time, changed)
record()
return {'changed', #changed, 'missing', missing}
