-- Notes that a process writes its last snapshot, or takes its note away once it has given up the lease.
--
-- KEYS     the note
-- ARGV     who, for how long at most in ms; 0 takes it away
-- returns  {}
-- atomic   the check whose note it is, and its end
if ARGV[2] ~= '0' then
  redis.call('DEL', KEYS[1]) -- after which a full memory refuses nothing, as in put.lua
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
elseif redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return {}
