-- Notes that the archive has committed what read_changes.lua read, and that this does not wait any more. What has changed since it was read
-- has a higher rev, and waits on.
--
-- KEYS     meta dirty journal
-- ARGV     incarnation, epoch, up to which rev all that waited is archived; the ms since 1970 before which no change waits any
--          more, 0 when that is not known; the id after that of the last entry of the journal that is archived, '' for none
-- returns  {how many members and entries of the journal wait} | NOTLOADED
-- atomic   what waits and `archived` change together; `archived` rises, never falls, and `pending` goes when nothing above is under way
if not current() then return 'NOTLOADED' end
if ARGV[5] ~= '' then redis.call('XTRIM', KEYS[3], 'MINID', ARGV[5]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
local committed, waiting = tonumber(ARGV[3]), redis.call('ZCARD', KEYS[2]) + redis.call('XLEN', KEYS[3])
if committed > tonumber(archived) then redis.call('HSET', KEYS[1], 'archived', ARGV[3]) end
if pending and tonumber(pending) <= committed then redis.call('HDEL', KEYS[1], 'pending') end
if waiting == 0 then
  redis.call('HDEL', KEYS[1], 'since')
elseif ARGV[4] ~= '0' then
  redis.call('HSET', KEYS[1], 'since', ARGV[4])
end
return {waiting}
