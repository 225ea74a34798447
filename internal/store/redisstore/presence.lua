-- Takes members off the board, with all that they have kept in their entries (absent.lua), or brings them back. Who is as it shall be is left alone.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, 1 to bring back, else 0, members (at most 1000), each once, what once takes, without a name
-- returns  {how many changed, members without an entry...} | NOTLOADED
-- atomic   all members, the guild's rev, the note for the snapshot, the events and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local back, answer = ARGV[3] == '1', {0}
local last = journaled() and #ARGV - 5 or #ARGV
local scores, entries = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 4, last)), redis.call('HMGET', KEYS[3], unpack(ARGV, 4, last))
local held, changed, texts, seats = ' ' .. stamp() .. ' ', {}, {}, {}
for i = 1, #scores do
  local away, rest = absent(entries[i])
  local xp = scores[i] and string.format('%.0f', scores[i] + 0) or away
  if not xp then
    answer[#answer + 1] = ARGV[3 + i]
  elseif back ~= (away == nil) then
    local count, ends, gains, user = parts(rest or entries[i] or '0 0 0')
    if not count then return redis.error_reply("ERR a member's entry is damaged") end
    changed[#changed + 1], seats[#seats + 1], seats[#seats + 2] = ARGV[3 + i], xp, ARGV[3 + i]
    texts[2 * #changed - 1] = ARGV[3 + i]
    texts[2 * #changed] = (back and '' or '-' .. xp .. ' ') .. count .. held .. ends .. gains .. user
  end
end
if #changed == 0 then return answer end

if back then redis.call('ZADD', KEYS[2], unpack(seats)) else redis.call('ZREM', KEYS[2], unpack(changed)) end
for i = 1, #changed do
  if back then event(KEYS[5], 'i', changed[i], 'a', seats[2 * i - 1]) else event(KEYS[5], 'o', changed[i]) end
  moved(changed[i], back, boards)
end
redis.call('HSET', KEYS[3], unpack(texts))
note(rev, since, pending, changed, 1, #changed)
answer[1] = #changed
record(nil, nil, nil, audited())
return answer
