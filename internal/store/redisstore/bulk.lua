-- Sets, raises or adds to the XP and the message counts of members, and makes entries of those that have none. What is added is clamped first and
-- then added by ZINCRBY. A member that is not present stays so: its XP is in its entry (absent.lua), and no event is made. A "-" before an amount of
-- XP takes the member off the board, without an event, unless the mode leaves it alone.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, what leveled takes, mode (set, higher, add, missing), n (at most 1000), for how many of them user data
--          follows, n members, each once, n amounts of XP (or of a member that was changed already "=" and its part of the outcome), n message
--          counts or '', user data of the first members, what once takes
-- returns  {outcome} | {REPLAYED, outcome} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE, where the outcome has for
--          each member c (created), h (changed) or u (unchanged), and XP and message count after, all with a space between
-- atomic   all members, their gains, the guild's rev, the note for the snapshot, the events, the record and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local ARGV, byte, format, tonumber = ARGV, string.byte, string.format, tonumber
local mode, n, told = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local from, to = 7, 6 + n
opened(boards)
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, from, to))
local entries = redis.call('HMGET', KEYS[3], unpack(ARGV, from, to))
local held = ' ' .. stamp() .. ' '

-- Returns what a number becomes (nil: it is not there), and its text: making text of a number is slow.
local function becomes(before, text, given)
  local number = tonumber(given)
  if not before or mode == 'set' then return number, given end
  if mode == 'higher' and number > before then return number, given end
  if mode ~= 'add' or number == 0 then return before, text end
  number = math.min(before + number, MAX_XP)
  return number, format('%.0f', number)
end

-- Nothing is written before everything was read, so that a damaged value stops the script while nothing has changed.
local texts, seats, outcome, changed, days, made, befores, afters = {}, {}, {}, {}, {}, {}, {}, {}
local o, c = 0, 0 -- how many of outcome and changed there are
for i = 1, n do
  local given = ARGV[to + i]
  if byte(given) == 61 then -- "="
    o = o + 1
    outcome[o] = string.sub(given, 2)
  else
    local member, was, before, hide = ARGV[6 + i], scores[i], nil, byte(given) == 45 -- "-"
    if was then
      before = was + 0
      if not tonumber(was) then was = format('%.0f', before) end
    end
    if hide then given = string.sub(given, 2) end
    local away, rest = absent(entries[i])
    if away then was, before = was or away, before or tonumber(away) end
    local count, ends, gains, user = '0', '0', '', ''
    if was then count, ends, gains, user = parts(rest or entries[i] or '0 0 0') end
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    local xp, text = becomes(before, was, given)
    local _, messages = nil, count
    if ARGV[to + n + i] ~= '' then _, messages = becomes(was and tonumber(count), count, ARGV[to + n + i]) end
    local data = user
    if i <= told and (mode ~= 'missing' or not was) then data = ' ' .. ARGV[to + 2 * n + i] end
    if away or mode == 'missing' and was then hide = false end
    local same = was and xp == before and messages == count and data == user and not hide
    outcome[o + 1], outcome[o + 2], outcome[o + 3] = same and 'u' or was and 'h' or 'c', text, messages
    o = o + 3
    if not same then
      c = c + 1
      changed[c], befores[c], afters[c] = member, before or 0, xp
      if not was then gains = born(member, boards) end
      if mode == 'add' then gains, days[c] = earned(member, gains, xp - befores[c]) end
      made[c] = hide and was and 'leaves' or (away or hide) and 'away' or was and 'there' or 'new'
      if mode ~= 'add' and xp ~= before and (made[c] == 'there' or made[c] == 'new') then seats[#seats + 1], seats[#seats + 2] = text, member end
      texts[2 * c - 1], texts[2 * c] = member, ((away or hide) and '-' .. text .. ' ' or '') .. messages .. held .. ends .. gains .. data
    end
  end
end
outcome = table.concat(outcome, ' ')
if c == 0 then
  unchanged(since, rev, outcome)
  return {outcome}
end

if #seats > 0 then redis.call('ZADD', KEYS[2], unpack(seats)) end
for i = 1, c do
  local member, gain = changed[i], afters[i] - befores[i]
  if made[i] == 'leaves' then
    redis.call('ZREM', KEYS[2], member)
  elseif made[i] ~= 'away' then
    if mode == 'add' and (made[i] == 'new' or gain ~= 0) then redis.call('ZINCRBY', KEYS[2], gain, member) end
    leveled(member, befores[i], afters[i])
  end
  noted(member, days[i], gain)
  if made[i] == 'leaves' or made[i] == 'away' and days[i] then moved(member, false, boards) end
end
redis.call('HSET', KEYS[3], unpack(texts))
local counted = note(rev, since, pending, changed, 1, c)
record(counted, table.concat(changed, ' '), outcome, audited())
return {outcome}
