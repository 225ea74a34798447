-- Notes the rev that the archive may hold from now on: `pending` in meta, so that a writer that dies leaves a trace of what it may have
-- committed. Returns false, with nothing noted, when Redis does not know of what the archive holds, and so has gone back in
-- time: once pending was raised, it would look as if it knew.
-- KEYS[1] meta; after epoch.lua.
local function raise(held)
  if math.max(tonumber(rev), tonumber(archived or rev)) < tonumber(held) then return false end
  redis.call('HSET', KEYS[1], 'pending', rev)
  return true
end
