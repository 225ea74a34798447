-- Appends an event to the guild's log, which keeps the last KEPT_EVENTS of them, or a few more. hidden: the event's member is hidden. The
-- first event after a load first moves the load's mark from meta (commit_hydration.lua) into the log.
local function event(meta_key, events_key, hidden, ...)
  local marked, words = redis.call('HGET', meta_key, 'marked'), {...}
  if marked then
    redis.call('XADD', events_key, marked .. '-0', 'r', redis.call('HGET', meta_key, 'epoch'))
    redis.call('HDEL', meta_key, 'marked')
  end
  if hidden then words[#words + 1], words[#words + 2] = 'h', 1 end
  redis.call('XADD', events_key, 'MAXLEN', '~', KEPT_EVENTS, '*', unpack(words))
end
