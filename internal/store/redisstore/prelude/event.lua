-- Appends an event to the guild's log, which holds the last KEPT_EVENTS of them, or a few more. The first one after a load puts the
-- load's mark, which until then is in meta (commit_hydration.lua), before itself.
local function event(meta_key, events_key, ...)
  local marked = redis.call('HGET', meta_key, 'marked')
  if marked then
    redis.call('XADD', events_key, marked .. '-0', 'r', redis.call('HGET', meta_key, 'epoch'))
    redis.call('HDEL', meta_key, 'marked')
  end
  redis.call('XADD', events_key, 'MAXLEN', '~', KEPT_EVENTS, '*', ...)
end
