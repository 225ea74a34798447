-- Appends to the guild's log of events, which holds the last 10,000 of them, or a few more, for as long as the guild is loaded, and for
-- some time after (evict.lua).
local function append(key, id, ...)
  redis.call('XADD', key, 'MAXLEN', '~', '10000', id, ...)
end
