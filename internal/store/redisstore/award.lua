-- Gives members XP for their messages, and brings back those who are not present (absent.lua). What each gets is clamped first, then added by ZINCRBY; all else that is read and written of
-- them goes in one command each.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, what leveled takes, cooldown in ms, n (at most 1000), for how many of them user data follows, n members,
--          each once, n lists of what the messages are worth ("20", or "20 -1 0", where one that is -1 does not count; or of a member that has
--          them already "=" and its part of the outcome), user data of the first members, what once takes
-- returns  {outcome} | {REPLAYED, outcome} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE, where the outcome has
--          for each member XP before (-1: its entry was made), message count before and what each message gave (-1: it did not count), all with a space between
-- atomic   all members, their gains, the guild's rev, the note for the snapshot, the events, the record and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local ARGV, byte, format, tonumber = ARGV, string.byte, string.format, tonumber
local cooldown, n, told = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local from, to = 7, 6 + n
opened(boards)
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, from, to))
local entries = redis.call('HMGET', KEYS[3], unpack(ARGV, from, to))

-- To make text of a number is what costs most here, so the times become text once, and what is only passed on stays text.
local time = now()
local held = ' ' .. stamp() .. ' '
local latest = format('%.0f', time + cooldown) -- the end of a cooldown that begins now
local started = cooldown > 0 and latest

-- Nothing is written before everything was read, so that a damaged value stops the script while nothing has changed.
local xps, starts, newentries, outcome, given, days, returns = {}, {}, {}, {}, {}, {}, {}
local o, g = 0, 0 -- how many of outcome and given there are
for i = 1, n do
  if byte(ARGV[to + i]) == 61 then -- "="
    o = o + 1
    outcome[o] = string.sub(ARGV[to + i], 2)
  else
    local member, entry, before = ARGV[6 + i], entries[i], scores[i]
    local start, count, ends, gains, user = 0, '0', '0', '', ''
    local away, rest = absent(entry)
    if away then start, entry = tonumber(away), rest end
    if before then
      start = before + 0
      if not tonumber(before) then before = format('%.0f', start) end
    end
    if entry then
      count, ends, gains, user = parts(entry)
      if not count then return redis.error_reply("ERR a member's entry is damaged") end
    end
    local first = o + 1
    outcome[o + 1], outcome[o + 2] = before or away or '-1', count
    o = o + 2

    local xp, offers, messages = start, ARGV[to + i], 0
    local free = time >= tonumber(ends)
    if not free and tonumber(ends) > time + cooldown then -- it began before the clock was set back
      ends, free = latest, cooldown <= 0
    end
    local only = tonumber(offers)
    if only == -1 then
      o = o + 1
      outcome[o] = offers
    elseif only then -- one message, as most members have in a call
      local gain = '0'
      if free and only > 0 then
        xp, gain = start + only, offers
        if xp > MAX_XP then xp, gain = MAX_XP, MAX_XP - start end
        if started and xp > start then ends = started end
      end
      messages, o = 1, o + 1
      outcome[o] = gain
    else
      for offer in string.gmatch(offers, '%-?%d+') do
        local gain = 0
        offer = tonumber(offer)
        if free and offer > 0 then
          gain = math.min(offer, MAX_XP - xp)
          if gain > 0 then
            xp = xp + gain
            if started then ends, free = started, false end
          end
        end
        if offer >= 0 then messages = messages + 1 else gain = -1 end
        o = o + 1
        outcome[o] = gain
      end
    end

    if messages > 0 then
      if xp ~= start or not before then xps[i], starts[i] = xp, start end
      if away then returns[i] = away elseif not before then gains = born(member, boards) end
      if i <= told then user = ' ' .. ARGV[to + n + i] end
      g = g + 1
      given[g] = member
      gains, days[i] = earned(member, gains, xp - start)
      newentries[2 * g - 1], newentries[2 * g] = member, (count + messages) .. held .. ends .. gains .. user
    elseif not before and not away then
      outcome[first] = '0' -- nothing is made
    end
  end
end

for i = 1, n do
  if xps[i] then
    local member = ARGV[6 + i]
    if returns[i] then
      redis.call('ZADD', KEYS[2], returns[i], member)
      event(KEYS[5], 'i', member, 'a', returns[i])
      moved(member, true, boards)
    end
    redis.call('ZINCRBY', KEYS[2], xps[i] - starts[i], member)
    leveled(member, starts[i], xps[i])
    noted(member, days[i], xps[i] - starts[i])
  end
end
outcome = table.concat(outcome, ' ')
if g == 0 then
  unchanged(since, rev, outcome)
  return {outcome}
end
redis.call('HSET', KEYS[3], unpack(newentries))
local counted = note(rev, since, pending, given, 1, g)
if named() then record(counted, table.concat(given, ' '), outcome, '') end
return {outcome}
