-- Appends to the guild's log of events, which holds the last KEPT_EVENTS of them, or a few more, for as long as the guild is loaded, and for
-- some time after (evict.lua).
local function append(key, id, ...)
  redis.call('XADD', key, 'MAXLEN', '~', KEPT_EVENTS, id, ...)
end
