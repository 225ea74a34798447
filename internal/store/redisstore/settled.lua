-- Looks whether all changes of a frozen guild are archived, and keeps it frozen.
--
-- KEYS     meta lock dirty journal
-- ARGV     incarnation, token, how long it lasts in ms
-- returns  {how many members and entries of the journal wait, epoch, rev} | HYDRATIONLOST: it is not frozen any more
-- atomic   all of it
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev')
if meta[1] ~= ARGV[1] or meta[2] ~= FROZEN or redis.call('GET', KEYS[2]) ~= ARGV[2] .. '@' .. SERVER then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {redis.call('ZCARD', KEYS[3]) + redis.call('XLEN', KEYS[4]), meta[3], meta[4]}
