-- Reads the extent of a guild's log of events.
--
-- KEYS     meta events
-- ARGV     incarnation, flags (loaded.lua)
-- returns  {'now', now in ms, 'count', how many events, 'oldest', id of the oldest, 'newest', id of the newest; nil without events} |
--          NOTLOADED
-- atomic   all of it. A load's mark that is still in meta counts as the only event of an empty log
local _, events_key = unpack(KEYS)
local found, marked = loaded('marked')
if not found then return 'NOTLOADED' end
local count = redis.call('XLEN', events_key)
if marked and count == 0 then return {'now', now(), 'count', 1, 'oldest', marked .. '-0', 'newest', marked .. '-0'} end
local oldest = redis.call('XRANGE', events_key, '-', '+', 'COUNT', 1)[1]
local newest = redis.call('XREVRANGE', events_key, '+', '-', 'COUNT', 1)[1]
return {'now', now(), 'count', count, 'oldest', oldest and oldest[1], 'newest', newest and newest[1]}
