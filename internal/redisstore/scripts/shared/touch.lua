-- Counts a change and notes its member for the next snapshot. Returns 1 when it is the first one noted, else 0: then
-- the caller has to put the guild into the index, which is in another slot.
-- KEYS[1] meta, KEYS[5] dirty.
local function touch(member)
  redis.call('HINCRBY', KEYS[1], 'rev', 1)
  if redis.call('SADD', KEYS[5], member) == 1 and redis.call('SCARD', KEYS[5]) == 1 then
    redis.call('HSET', KEYS[1], 'since', now())
    return 1
  end
  return 0
end
