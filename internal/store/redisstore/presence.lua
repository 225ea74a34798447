-- Takes members off the board, with all that they have, or brings them back. Who is as it shall be is left alone.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua, without a name; 'back' or 'away', members (at most 1000), each once
-- returns  {'changed', how many, 'missing', {members without an entry}} | NOTLOADED
-- atomic   all members, the guild's rev, the note for the snapshot, the events and the journal
local to, members = ARGV[9], {unpack(ARGV, 10)}
local present, absent = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('ZMSCORE', off_key, unpack(members))
local entries = redis.call('HMGET', entry_key, unpack(members))

-- Nothing is written before everything was read.
local changed, missing, seats, texts = {}, {}, {}, {}
for i = 1, #members do
  if not present[i] and not absent[i] then missing[#missing + 1] = members[i] end
  local moves = to == 'away' and present[i] or to == 'back' and not present[i] and absent[i]
  if moves then
    local count, cooldown_end, gains, user = fields(entries[i])
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    changed[#changed + 1] = members[i]
    seats[2 * #changed - 1], seats[2 * #changed] = string.format('%.0f', moves + 0), members[i]
    texts[2 * #changed - 1], texts[2 * #changed] = members[i], entry_text(count, time, cooldown_end, gains, user)
  end
end
if #changed == 0 then return {'changed', 0, 'missing', missing} end

redis.call('ZREM', to == 'back' and off_key or xp_key, unpack(changed))
redis.call('ZADD', to == 'back' and xp_key or off_key, unpack(seats))
redis.call('HSET', entry_key, unpack(texts))
for i = 1, #changed do
  if to == 'back' then event(meta_key, events_key, 'i', changed[i], 'a', seats[2 * i - 1]) end
  if to == 'away' then event(meta_key, events_key, 'o', changed[i]) end
  move_on_boards(changed[i], to)
end
rev = note(meta_key, dirty_key, rev, since, pending, time, changed)
record()
return {'changed', #changed, 'missing', missing}
