-- Sets, raises or adds to the XP and the message counts of members, and makes entries of those that have none. What is added is clamped first and
-- then added by ZINCRBY. A member that is not present stays so: its XP is in its entry (absent.lua), and no event is made. A "-" before an amount of
-- XP takes the member off the board, without an event, unless the mode leaves it alone.
--
-- KEYS     meta xp entry dirty events, notes as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, what leveled takes, mode (set, higher, add, missing), n (at most 1000), for how many of them user data
--          follows, n members, each once, n amounts of XP (or of a member that was changed already "=" and its part of the outcome), n message
--          counts or '', user data of the first members, what once takes
-- returns  {first as in create.lua, outcome} | {REPLAYED, outcome} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE, where the outcome has for
--          each member c (created), h (changed) or u (unchanged), and XP and message count after, all with a space between
-- atomic   all members, their gains, the guild's rev, the note for the snapshot, the events, the record and the journal
local found, rev, since, pending, known = loaded('rev', 'since', 'pending', 'gains')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local ARGV, tonumber = ARGV, tonumber
local mode, n, told = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local from, to = 7, 6 + n
opened(known)
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, from, to))
local entries = redis.call('HMGET', KEYS[3], unpack(ARGV, from, to))
local held = ' ' .. stamp() .. ' '

-- What becomes of a number that is there, and of one that is not (nil).
local function becomes(before, given)
  if not before then return given end
  if mode == 'set' then return given end
  if mode == 'add' then return math.min(before + given, MAX_XP) end
  if mode == 'higher' then return math.max(before, given) end
  return before
end

-- Nothing is written before everything was read, so that a damaged value stops the script while nothing has changed.
local texts, outcome, changed, days, made, befores, afters = {}, {}, {}, {}, {}, {}, {}
for i = 1, n do
  local given = ARGV[to + i]
  if string.byte(given) == 61 then -- "="
    outcome[#outcome + 1] = string.sub(given, 2)
  else
    local member, before, away, rest = ARGV[6 + i], scores[i] and (tonumber(scores[i]) or score(scores[i])), absent(entries[i])
    local there, hide = before or away, string.byte(given) == 45 -- "-"
    if hide then given = string.sub(given, 2) end
    before = before or tonumber(away)
    local count, ends, gains, user = '0', '0', '', ''
    if there then count, ends, gains, user = parts(rest or entries[i] or '0 0 0') end
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    local xp, messages = becomes(before, tonumber(given)), tonumber(count)
    if ARGV[to + n + i] ~= '' then messages = becomes(there and messages, tonumber(ARGV[to + n + i])) end
    local data = user
    if i <= told and (mode ~= 'missing' or not there) then data = ' ' .. ARGV[to + 2 * n + i] end
    if away or mode == 'missing' and there then hide = false end
    local same = there and xp == before and messages == tonumber(count) and data == user and not hide
    outcome[#outcome + 1] = table.concat({same and 'u' or there and 'h' or 'c', string.format('%.0f', xp), string.format('%.0f', messages)}, ' ')
    if not same then
      changed[#changed + 1] = member
      if not there then gains = born(member, known) end
      if mode == 'add' then gains, days[#changed] = earned(member, gains, xp - (before or 0)) end
      befores[#changed], afters[#changed], made[#changed] = before or 0, xp, hide and there and 'leaves' or (away or hide) and 'away' or there and 'there' or 'new'
      texts[2 * #changed - 1] = member
      texts[2 * #changed] = ((away or hide) and string.format('-%.0f ', xp) or '') .. string.format('%.0f', messages) .. held .. ends .. gains .. data
    end
  end
end
outcome = table.concat(outcome, ' ')
if #changed == 0 then return {unchanged(since, rev, outcome), outcome} end

for i = 1, #changed do
  local member, gain = changed[i], afters[i] - befores[i]
  if made[i] == 'leaves' then
    redis.call('ZREM', KEYS[2], member)
  elseif made[i] ~= 'away' then
    if made[i] == 'new' or gain ~= 0 and mode == 'add' then
      redis.call('ZINCRBY', KEYS[2], string.format('%.0f', gain), member)
    elseif gain ~= 0 then
      redis.call('ZADD', KEYS[2], string.format('%.0f', afters[i]), member)
    end
    leveled(member, befores[i], afters[i])
  end
  noted(member, days[i], gain)
  if made[i] == 'leaves' or made[i] == 'away' and days[i] then moved(member, false, known) end
end
redis.call('HSET', KEYS[3], unpack(texts))
local first, counted = note(rev, since, pending, changed, 1, #changed)
unread(rev, #changed)
record(counted, table.concat(changed, ' '), outcome, audited())
return {first, outcome}
