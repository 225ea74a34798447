-- Appends an event to the guild's log, which holds the last KEPT_EVENTS of them, or a few more; hidden says that it is of a member who is.
-- The first one after a load puts the load's mark, which until then is in meta (commit_hydration.lua), before itself.
local function event(meta_key, events_key, hidden, ...)
  local marked, words = redis.call('HGET', meta_key, 'marked'), {...}
  if marked then
    redis.call('XADD', events_key, marked .. '-0', 'r', redis.call('HGET', meta_key, 'epoch'))
    redis.call('HDEL', meta_key, 'marked')
  end
  if hidden then words[#words + 1], words[#words + 2] = 'h', 1 end
  redis.call('XADD', events_key, 'MAXLEN', '~', KEPT_EVENTS, '*', unpack(words))
end
