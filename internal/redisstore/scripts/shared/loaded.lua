-- Put before every script that works on a loaded guild: nothing is read or changed for another incarnation.
-- KEYS[1] meta; ARGV[1] incarnation.
if redis.call('HGET', KEYS[1], 'incarnation') ~= ARGV[1] then return 'NOTLOADED' end
