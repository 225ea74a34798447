-- Appends to the guild's log of events, which holds the last 10,000 of them, or a few more, and is gone an hour after the
-- last: the minute on top is for who judges by the time of an event whether later ones can be gone (package events).
local function append(key, id, ...)
  redis.call('XADD', key, 'MAXLEN', '~', 10000, id, ...)
  redis.call('PEXPIRE', key, 3660000)
end
