-- Counts changes (one, if not told) of members[from] to members[to], each named once, and notes them for the next snapshot. Returns 1
-- when no other member was noted, else 0: then the caller has to put the guild into the index, which is in another slot.
-- KEYS[1] meta, KEYS[4] dirty.
local function note(members, from, to, changes)
  redis.call('HINCRBY', KEYS[1], 'rev', changes or 1)
  local added = redis.call('SADD', KEYS[4], unpack(members, from, to))
  if added == 0 or redis.call('SCARD', KEYS[4]) > added then return 0 end
  redis.call('HSET', KEYS[1], 'since', now())
  return 1
end
