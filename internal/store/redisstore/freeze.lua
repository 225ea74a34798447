-- Freezes a guild that is in use, or keeps it frozen, and counts its changes that are not archived. Only the snapshot writer can use a
-- frozen guild (epoch.lua, read_changes.lua); to all others it is unverified.
--
-- KEYS     meta lock dirty journal
-- ARGV     incarnation, token, how long it lasts in ms, 1 to freeze it, 0 to keep it frozen
-- returns  {'waiting', how many members and entries of the journal wait, 'epoch', epoch, 'rev', rev} | NOTLOADED | HYDRATIONLOST: another
--          process froze the guild or loads it, or it is no longer frozen
-- atomic   all of it
local meta_key, lock_key, dirty_key, journal_key = unpack(KEYS)
local incarnation, token, freeze_ms, begin = unpack(ARGV)
local there, server, epoch, rev = unpack(redis.call('HMGET', meta_key, 'incarnation', 'server', 'epoch', 'rev'), 1, 4)
local lock, mine = redis.call('GET', lock_key), token .. '@' .. SERVER
if begin == '1' then
  if there ~= incarnation or server ~= SERVER then return 'NOTLOADED' end
  if lock and string.sub(lock, -#SERVER - 1) == '@' .. SERVER then return 'HYDRATIONLOST' end
  redis.call('HSET', meta_key, 'server', FROZEN)
elseif there ~= incarnation or server ~= FROZEN or lock ~= mine then
  return 'HYDRATIONLOST'
end
redis.call('SET', lock_key, mine, 'PX', freeze_ms)
return {'waiting', redis.call('ZCARD', dirty_key) + redis.call('XLEN', journal_key), 'epoch', epoch, 'rev', rev}
