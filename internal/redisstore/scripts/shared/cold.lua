-- Whether nobody has noted a use of a loaded guild for so many ms, and nothing of it waits to be archived or is under way. A
-- guild without a note, which another version of the service loaded, gets one.
-- KEYS[1] meta, KEYS[2] lock, KEYS[3] dirty.
local function cold(idle)
  local meta = redis.call('HMGET', KEYS[1], 'rev', 'archived', 'flushing', 'pending', 'raising', 'used')
  if meta[1] ~= meta[2] or meta[3] or meta[5] then return false end
  if meta[4] and tonumber(meta[4]) > tonumber(meta[2]) then return false end -- one that is not is of a writer that died
  if redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then return false end
  local time = now()
  if not meta[6] then redis.call('HSET', KEYS[1], 'used', time) end
  return time - tonumber(meta[6] or time) >= idle
end
