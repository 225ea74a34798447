-- Freezes a guild that is in use, or keeps it frozen, and tells whether all of its changes are archived. A frozen guild is as if it had not been verified,
-- to all but the snapshot writer (epoch.lua, read_changes.lua).
--
-- KEYS     meta lock dirty journal
-- ARGV     incarnation, token, how long it lasts in ms, 1 to freeze it, 0 to keep it frozen
-- returns  {how many members and entries of the journal wait, epoch, rev} | NOTLOADED | HYDRATIONLOST: another one has frozen it or loads it, or it is
--          not frozen any more
-- atomic   all of it
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev')
local lock, mine = redis.call('GET', KEYS[2]), ARGV[2] .. '@' .. SERVER
if ARGV[4] == '1' then
  if meta[1] ~= ARGV[1] or meta[2] ~= SERVER then return 'NOTLOADED' end
  if lock and string.sub(lock, -#SERVER - 1) == '@' .. SERVER then return 'HYDRATIONLOST' end
  redis.call('HSET', KEYS[1], 'server', FROZEN)
elseif meta[1] ~= ARGV[1] or meta[2] ~= FROZEN or lock ~= mine then
  return 'HYDRATIONLOST'
end
redis.call('SET', KEYS[2], mine, 'PX', ARGV[3])
return {redis.call('ZCARD', KEYS[3]) + redis.call('XLEN', KEYS[4]), meta[3], meta[4]}
