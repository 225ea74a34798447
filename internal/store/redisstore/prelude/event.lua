-- Appends an event to the guild's log. The first one after a load puts the load's mark, which until then is in meta, before itself.
-- The mark is looked for here, since nearly all changes are no event.
-- KEYS[1] meta; after append.lua.
local function event(key, ...)
  local marked = redis.call('HGET', KEYS[1], 'marked')
  if marked then
    if redis.call('EXISTS', key) == 0 then append(key, marked .. '-0', 'r', redis.call('HGET', KEYS[1], 'epoch')) end
    redis.call('HDEL', KEYS[1], 'marked')
  end
  append(key, '*', ...)
end
