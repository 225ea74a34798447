-- Changes the XP of members, within 0 and the highest XP there is: independent changes, made in their order in one step. What
-- is read and written of all of them goes in one command each.
--
-- KEYS     meta xp entry dirty events, record as in once.lua (then n is 1)
-- ARGV     incarnation, n (at most 1000), n members, which may repeat, n changes, what levelup.lua takes, what once.lua takes;
--          a change is what is added ("5", "-5") or what is set ("=5"), then, with a space between, the cooldown in ms that
--          begins, if one does
-- returns  {XP before, XP after and message count of each (-1, 0, 0: no such member; -2, 0, 0: its entry is damaged), first as
--          in create.lua} | {REPLAYED, 'before after count'} | NOTLOADED | KEYREUSED | CLAIMLOST
-- atomic   the XP, the last update, the cooldown, the guild's rev, the note for the snapshot, the event and the record
local found, rev, since = loaded('rev', 'since')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local max_xp = 2147483647
local ARGV, find, format, tonumber = ARGV, string.find, string.format, tonumber
local n = tonumber(ARGV[2])
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 3, 2 + n))
local entries = redis.call('HMGET', KEYS[3], unpack(ARGV, 3, 2 + n))

-- Nothing is written before everything was read. The changes may be of many callers, so a damaged entry fails its own only.
local places, members, xps, counts, ends, users, m = {}, {}, {}, {}, {}, {}, 0 -- of the members that are there and whole, each once
local outcome, made = {}, 0
for i = 1, n do
  local member, change = ARGV[2 + i], ARGV[2 + n + i]
  local place = places[member]
  if not place and scores[i] then
    local xp = tonumber(scores[i]) or score(scores[i])
    local count, cooldown, user = parts(entries[i] or '0 0 0')
    if count and xp and xp >= 0 and xp <= max_xp and xp % 1 == 0 then
      m = m + 1
      place, places[member] = m, m
      members[m], xps[m], counts[m], ends[m], users[m] = member, xp, count, cooldown, user
    end
  end
  if place then
    local before, added = xps[place], tonumber(change)
    local after
    if added then
      after = before + added
    else
      local _, _, set, amount, cooldown = find(change, '^(=?)(%-?%d+) ?(%d*)$')
      after = (set == '' and before or 0) + tonumber(amount)
      if cooldown ~= '' then
        ends[place] = format('%.0f', now() + tonumber(cooldown))
      end
    end
    if after > max_xp then after = max_xp elseif after < 0 then after = 0 end
    xps[place], made = after, made + 1
    outcome[3 * i - 2], outcome[3 * i - 1], outcome[3 * i] = before, after, tonumber(counts[place])
  else
    outcome[3 * i - 2], outcome[3 * i - 1], outcome[3 * i] = scores[i] and -2 or -1, 0, 0
  end
end
outcome[3 * n + 1] = 0
if m == 0 then return outcome end

local held = ' ' .. stamp() .. ' '
local scored, noted = {}, {}
for i = 1, m do
  scored[2 * i - 1], scored[2 * i] = xps[i], members[i]
  noted[2 * i - 1], noted[2 * i] = members[i], counts[i] .. held .. ends[i] .. users[i]
end
redis.call('ZADD', KEYS[2], unpack(scored))
redis.call('HSET', KEYS[3], unpack(noted))
for i = 1, n do
  if outcome[3 * i - 2] >= 0 then levelup(ARGV[2 + i], outcome[3 * i - 2], outcome[3 * i - 1]) end
end
record(outcome[1], outcome[2], outcome[3])
outcome[3 * n + 1] = note(rev, since, members, 1, m, made)
return outcome
