-- Tells what a guild's log of events holds.
--
-- KEYS     meta events
-- ARGV     incarnation
-- returns  {now in ms, how many events, id of the oldest, id of the newest} | NOTLOADED; without events the ids are nil
-- atomic   all of it; the mark of a load that is still in meta is the one event of a log that has no other
local found, marked = loaded('marked')
if not found then return 'NOTLOADED' end
if marked and redis.call('XLEN', KEYS[2]) == 0 then return {now(), 1, marked .. '-0', marked .. '-0'} end
local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return {now(), redis.call('XLEN', KEYS[2]), oldest and oldest[1], newest and newest[1]}
