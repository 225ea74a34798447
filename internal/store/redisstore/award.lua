-- Gives members XP for their messages, and makes absent ones present again.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; cooldown in ms, n (at most 1000), n members, each once, n lists of the XP of their messages ('20', or
--          '20 -1 0', where -1 is a message that does not count; or for a member who got them already '=' and its part of the
--          outcome), n channels of the member's first message with XP, user data of n members or ''
-- returns  {'outcome', text} | {'replayed', text} | NOTLOADED | KEYREUSED | ASKARCHIVE, where the text has for each member XP before (-1:
--          its entry was created), message count before and the XP of each message (-1: it did not count)
-- atomic   all members, their gains, the guild's rev, the note for the snapshot, the events, the record and the journal
local cooldown, n = unpack(ARGV, 10, 11)
cooldown, n, curve = cooldown + 0, n + 0, read_curve(curve)
local members, offered = {unpack(ARGV, 12, 11 + n)}, {unpack(ARGV, 12 + n, 11 + 2 * n)}
local channels, data = {unpack(ARGV, 12 + 2 * n, 11 + 3 * n)}, {unpack(ARGV, 12 + 3 * n)}
if days ~= '' then open_boards() end
local on, off = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('ZMSCORE', off_key, unpack(members))
local entries, hidden = redis.call('HMGET', entry_key, unpack(members)), redis.call('HMGET', hidden_key, unpack(members))

-- Compute each member's gain. Read everything before the first write, so that a damaged entry stops the script before any change.
local outcome, given, texts, changes = {}, {}, {}, {}
for i = 1, n do
  if string.sub(offered[i], 1, 1) == '=' then
    outcome[#outcome + 1] = string.sub(offered[i], 2)
  else
    local member, score = members[i], on[i] or off[i]
    local count, cooldown_end, absent, gains, user = fields(entries[i])
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    local before, messages = score and score + 0 or 0, 0
    local after, words = before, {before, count}
    cooldown_end = math.min(cooldown_end, time + cooldown) -- a later end is from before the clock was set back
    for offer in string.gmatch(offered[i], '%-?%d+') do
      local gain = -1
      if offer ~= '-1' then
        messages, gain = messages + 1, 0
        if time >= cooldown_end then gain = clamp(after + offer) - after end
        if gain > 0 and cooldown > 0 then cooldown_end = time + cooldown end
        after = after + gain
      end
      words[#words + 1] = gain
    end
    local created = not score and messages > 0
    if created then words[1] = -1 end
    outcome[#outcome + 1] = table.concat(words, ' ')

    if messages > 0 then
      local day
      if created then gains = first_gains(dirty_key, boards, member) end
      if days ~= '' then gains, day = earned(member, gains, after - before) end
      if data[i] ~= '' then user = data[i] end
      given[#given + 1] = member
      texts[2 * #given - 1], texts[2 * #given] = member, entry_text(clamp(count + messages), time, cooldown_end, '', gains, user)
      changes[#given] = {before = before, after = after, day = day, created = created, returns = absent == 'a', hidden = hidden[i],
        from = off[i] and off_key or xp_key, to = seat('', hidden[i]), channel = channels[i]}
    end
  end
end
outcome = table.concat(outcome, ' ')

for i = 1, #given do
  local member, c = given[i], changes[i]
  if c.returns then event(meta_key, events_key, c.hidden, 'i', member, 'a', c.before) end
  if c.from ~= c.to and not c.created then
    redis.call('ZREM', c.from, member)
    redis.call('ZADD', c.to, c.before, member)
    move_on_boards(member, 'back')
  end
  if c.created or c.after ~= c.before then redis.call('ZINCRBY', c.to, c.after - c.before, member) end
  local levels = leveled(curve, c.before, c.after)
  if levels then event(meta_key, events_key, c.hidden, 'u', member, 'b', c.before, 'a', c.after, 'c', c.channel) end
  if c.day then count_gain(member, c.day, c.after - c.before) end
  if c.hidden then move_on_boards(member, 'away') end
end
if #given > 0 then
  redis.call('HSET', entry_key, unpack(texts))
  rev = note(meta_key, dirty_key, rev, since, pending, time, given)
elseif name ~= '' then
  redis.call('HSET', meta_key, 'since', since or time) -- the journal has to be archived too
end
record(table.concat(given, ' '), outcome)
return {'outcome', outcome}
