-- Counts changes (one, if not told) of members[from] to members[to], each named once, and notes them for the next snapshot. Returns 1
-- when nothing waited for one, else 0: then the caller has to put the guild into the index, which is in another slot.
-- rev and since are what meta has. KEYS[1] meta, KEYS[4] dirty; after now.lua.
local function note(rev, since, members, from, to, changes)
  local counted = tonumber(rev) + (changes or 1)
  if since then
    redis.call('HSET', KEYS[1], 'rev', counted)
  else
    redis.call('HSET', KEYS[1], 'rev', counted, 'since', stamp())
  end
  redis.call('SADD', KEYS[4], unpack(members, from, to))
  return since and 0 or 1
end
