-- Counts changes (one, if not told) of members[from] to members[to], each named once, and notes them for the next snapshot by the rev
-- of their oldest change that no snapshot has read: the first to change is the first to be written, however often it changes. A snapshot
-- may have read those up to `pending`, so one of them is noted again. Returns the rev of the changes.
-- rev, since and pending are what meta has. KEYS[1] meta, KEYS[4] dirty; after now.lua.
local function note(rev, since, pending, members, from, to, changes)
  local counted = string.format('%.0f', tonumber(rev) + (changes or 1))
  if since then
    redis.call('HSET', KEYS[1], 'rev', counted)
  else
    redis.call('HSET', KEYS[1], 'rev', counted, 'since', stamp())
  end
  local waiting = pending and redis.call('ZMSCORE', KEYS[4], unpack(members, from, to))
  local noted, n = {nil, nil}, 0
  pending = tonumber(pending)
  for i = from, to do
    local at = waiting and waiting[i - from + 1]
    if not at or at + 0 <= pending then
      noted[n + 1], noted[n + 2] = counted, members[i]
      n = n + 2
    end
  end
  if waiting then
    if n > 0 then redis.call('ZADD', KEYS[4], unpack(noted, 1, n)) end
  else
    redis.call('ZADD', KEYS[4], 'NX', unpack(noted, 1, n))
  end
  return counted
end
