-- Takes some notes of changes into the boards of running periods.
--
-- KEYS     meta, gains of the day, week, month and season, notes
-- ARGV     incarnation, about how many
-- returns  {how many are left} | NOTLOADED
-- atomic   all of it
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
if gains then settle(gains, 2, redis.call('HSCAN', KEYS[6], 0, 'COUNT', ARGV[2])[2]) end
return {math.max(redis.call('HLEN', KEYS[6]) - 1, 0)}
