-- Appends an event to the guild's log. The first one after a load puts the load's mark, which until then is in meta, before itself.
local function event(key, ...)
  if marked then
    if redis.call('EXISTS', key) == 0 then append(key, marked .. '-0', 'r', epoch) end
    redis.call('HDEL', KEYS[1], 'marked')
    marked = nil
  end
  append(key, '*', ...)
end
