-- Changes the XP of members, within 0 and the highest XP there is: independent changes, made in their order in one step. What
-- is added is clamped first and then added by ZINCRBY; what is set is written by ZADD.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua (then n is 1)
-- ARGV     incarnation, what counting.lua takes, what leveled takes, n members (at most 1000), which may repeat, n changes, what once takes; a change is
--          what is added ("5", "-5") or what is set ("=5"), then, with a space between, the cooldown in ms that begins, if one
--          does
-- returns  {XP before, XP after and message count of each (-1, 0, 0: no such member; -2, 0, 0: its entry is
--          damaged; -3, 0, 0: it is not present)} | {REPLAYED, 'before after count'} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE
-- atomic   the XP, the gains, the last update, the cooldown, the guild's rev, the note for the snapshot, the event, the record and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local ARGV, match, tonumber = ARGV, string.match, tonumber
local n = journaled() and 1 or (#ARGV - 3) / 2
opened(boards)
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 4, 3 + n))
local entries = redis.call('HMGET', KEYS[3], unpack(ARGV, 4, 3 + n))
local held = ' ' .. stamp() .. ' '

-- Nothing is written before everything was read. The changes may be of many callers, so a damaged entry fails its own only. A
-- member that is there and whole has its XP in scored and its entry in texts, at places[member]. Over many
-- boards nearly each guild has one change: tables have room for one from the start, since one that grows is made again each time.
local places, members, scored, texts, m = {}, {nil}, {nil}, {nil, nil}, 0
local outcome, sets, days, made = {nil, nil, nil}, {}, {}, 0
for i = 1, n do
  local member, change = ARGV[3 + i], ARGV[3 + n + i]
  local place, before, count, ends, gains, user = places[member]
  if place then
    before = scored[place]
    count, ends, gains, user = parts(texts[2 * place])
  elseif scores[i] then
    before = scores[i] + 0
    count, ends, gains, user = parts(entries[i] or '0 0 0')
  end
  if count and before and before >= 0 and before <= MAX_XP and before % 1 == 0 then
    local added, after = tonumber(change)
    if added then
      after = before + added
    else
      local set, amount, cooldown = match(change, '^(=?)(%-?%d+) ?(%d*)$')
      sets[i] = set ~= ''
      after = (sets[i] and 0 or before) + tonumber(amount)
      if cooldown ~= '' then ends = string.format('%.0f', now() + tonumber(cooldown)) end
    end
    if after > MAX_XP then after = MAX_XP elseif after < 0 then after = 0 end
    if not place then
      m = m + 1
      place, members[m] = m, member
      if i < n then places[member] = m end
    end
    scored[place] = after
    if not sets[i] then gains, days[i] = earned(member, gains, after - before) end
    texts[2 * place - 1], texts[2 * place] = member, count .. held .. ends .. gains .. user
    made = made + 1
    outcome[3 * i - 2], outcome[3 * i - 1], outcome[3 * i] = before, after, count
  else
    outcome[3 * i - 2], outcome[3 * i - 1], outcome[3 * i] = scores[i] and -2 or absent(entries[i]) and -3 or -1, 0, 0
  end
end
if m == 0 then return outcome end

for i = 1, n do
  local member, before, after = ARGV[3 + i], outcome[3 * i - 2], outcome[3 * i - 1]
  if before >= 0 and after ~= before then
    if sets[i] then redis.call('ZADD', KEYS[2], after, member) else redis.call('ZINCRBY', KEYS[2], after - before, member) end
    leveled(member, before, after)
    noted(member, days[i], after - before)
  end
end
redis.call('HSET', KEYS[3], unpack(texts, 1, 2 * m))
local counted = note(rev, since, pending, members, 1, m, made)
if journaled() then record(counted, members[1], table.concat(outcome, ' ', 1, 3), audited(), outcome[1], outcome[2]) end
return outcome
