-- Sets, raises or adds to the XP and the message counts of members, and creates missing entries. An absent member stays absent, and its
-- changes make no event.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; mode (set, higher, add, missing), n (at most 1000), n members, each once, n amounts of XP (with a '-' before
--          it, a member that the mode changes leaves the board, without an event; or of a member that was changed already '=' and its
--          part of the outcome), n message counts or '', user data of n members or ''
-- returns  {'outcome', text} | {'replayed', text} | NOTLOADED | KEYREUSED | ASKARCHIVE, where the text has for each member c (created),
--          h (changed) or u (unchanged), and XP and message count after
-- atomic   all members, their gains, the guild's rev, the note for the snapshot, the events, the record and the journal
local mode, n = unpack(ARGV, 10, 11)
n, curve = n + 0, read_curve(curve)
local members, amounts = {unpack(ARGV, 12, 11 + n)}, {unpack(ARGV, 12 + n, 11 + 2 * n)}
local counts, data = {unpack(ARGV, 12 + 2 * n, 11 + 3 * n)}, {unpack(ARGV, 12 + 3 * n)}
if days ~= '' then open_boards() end
local on, off = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('ZMSCORE', off_key, unpack(members))
local entries, hidden = redis.call('HMGET', entry_key, unpack(members)), redis.call('HMGET', hidden_key, unpack(members))

-- Compute each member's change. Read everything before the first write, so that a damaged entry stops the script before any change.
local outcome, changed, texts, changes = {}, {}, {}, {}
for i = 1, n do
  if string.sub(amounts[i], 1, 1) == '=' then
    outcome[#outcome + 1] = string.sub(amounts[i], 2)
  else
    local member, score, leaves = members[i], on[i] or off[i], string.sub(amounts[i], 1, 1) == '-'
    local count, cooldown_end, absent, gains, user = fields(score and entries[i])
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    local before, amount, said = score and score + 0 or 0, math.abs(amounts[i]), tonumber(counts[i])
    local after, messages, told_user = before, count + 0, data[i] ~= '' and data[i] or user
    if mode == 'set' or not score then
      after, messages = amount, said or messages
    elseif mode == 'higher' then
      after, messages = math.max(before, amount), math.max(messages, said or 0)
    elseif mode == 'add' then
      after, messages = clamp(before + amount), clamp(messages + (said or 0))
    else
      leaves, told_user = false, user
    end
    leaves = leaves and absent == ''
    local same = score and after == before and messages == count + 0 and told_user == user and not leaves
    outcome[#outcome + 1] = (same and 'u ' or score and 'h ' or 'c ') .. after .. ' ' .. messages

    if not same then
      local day
      if leaves then absent = 'a' end
      if not score then gains = first_gains(dirty_key, boards, member) end
      if mode == 'add' and days ~= '' then gains, day = earned(member, gains, after - before) end
      changed[#changed + 1] = member
      texts[2 * #changed - 1], texts[2 * #changed] = member, entry_text(messages, time, cooldown_end, absent, gains, told_user)
      changes[#changed] = {before = before, after = after, day = day, absent = absent == 'a', hidden = hidden[i],
        from = on[i] and xp_key or off[i] and off_key, to = seat(absent, hidden[i])}
    end
  end
end
outcome = table.concat(outcome, ' ')

for i = 1, #changed do
  local member, c = changed[i], changes[i]
  if c.from and c.from ~= c.to then redis.call('ZREM', c.from, member) end
  if mode == 'add' and c.from == c.to then
    redis.call('ZINCRBY', c.to, c.after - c.before, member)
  elseif c.from ~= c.to or c.after ~= c.before then
    redis.call('ZADD', c.to, c.after, member)
  end
  if not c.absent and leveled(curve, c.before, c.after) then
    event(meta_key, events_key, c.hidden, 'u', member, 'b', c.before, 'a', c.after, 's', 1)
  end
  if c.day then count_gain(member, c.day, c.after - c.before) end
  if c.to == off_key then move_on_boards(member, 'away') end
end
if #changed > 0 then
  redis.call('HSET', entry_key, unpack(texts))
  rev = note(meta_key, dirty_key, rev, since, pending, time, changed)
elseif name ~= '' then
  redis.call('HSET', meta_key, 'since', since or time) -- the journal has to be archived too
end
if #changed == 0 then audit = '' end
record(table.concat(changed, ' '), outcome)
return {'outcome', outcome}
