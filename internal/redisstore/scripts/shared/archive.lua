-- Notes that the archive has committed a batch of that rev: `archived` rises, never falls, and `pending` is cleared when it is
-- not above. KEYS[1] meta.
local function archive(rev)
  local meta = redis.call('HMGET', KEYS[1], 'archived', 'pending')
  if tonumber(rev) > tonumber(meta[1]) then redis.call('HSET', KEYS[1], 'archived', rev) end
  if meta[2] and tonumber(meta[2]) <= tonumber(rev) then redis.call('HDEL', KEYS[1], 'pending') end
end
