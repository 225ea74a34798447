-- Adds to the XP of a member or sets it, within 0..MAX_XP, and may begin a cooldown.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member, 'add' or 'set', amount, the length of a new cooldown in ms (0: none)
-- returns  {'before', XP, 'after', XP, 'count', messages} | {'replayed', 'before after count'} | NOTLOADED | NOMEMBER | NOTPRESENT |
--          KEYREUSED | ASKARCHIVE
-- atomic   the entry, the gains, the guild's rev, the note for the snapshot, the event, the record and the journal
local member, op, amount, cooldown = unpack(ARGV, 10)

-- Read the member before the first write.
local score, set_key = redis.call('ZMSCORE', xp_key, member)[1], xp_key
if not score then score, set_key = redis.call('ZMSCORE', off_key, member)[1], off_key end
if not score then return 'NOMEMBER' end
local before, hidden = score + 0, set_key == off_key -- hidden or absent
local count, cooldown_end, absent, gains, user = fields(redis.call('HGET', entry_key, member))
if absent == 'a' then return 'NOTPRESENT' end
if not count or before ~= clamp(before) or before % 1 ~= 0 then return redis.error_reply("ERR a member's entry is damaged") end
local after = clamp((op == 'set' and 0 or before) + amount)
if cooldown ~= '0' then cooldown_end = time + cooldown end

-- Write XP, and the gain of this day. Clamp an amount before adding it, because the sorted set is the counter.
if op == 'set' then
  redis.call('ZADD', set_key, after, member)
elseif after ~= before then
  local gain, day = after - before, nil
  if days ~= '' then
    open_boards()
    gains, day = earned(member, gains, gain)
    count_gain(member, day, gain)
    if hidden then move_on_boards(member, 'away') end
  end
  redis.call('ZINCRBY', set_key, gain, member)
end
redis.call('HSET', entry_key, member, entry_text(count, time, cooldown_end, '', gains, user))
if leveled(read_curve(curve), before, after) then event(meta_key, events_key, hidden, 'u', member, 'b', before, 'a', after) end

-- Note the change for the snapshot, a repeat of the request and the audit log.
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
if name ~= '' or audit ~= '' then record(member, before .. ' ' .. after .. ' ' .. count, before, after) end
return {'before', before, 'after', after, 'count', count}
