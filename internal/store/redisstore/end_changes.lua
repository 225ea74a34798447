-- Notes that the archive has committed what read_changes.lua read, and that this does not wait any more. What has changed since it was read
-- has a higher rev, and waits on.
--
-- KEYS     meta dirty journal
-- ARGV     incarnation, epoch, up to which rev all that waited is archived; the ms since 1970 before which no change waits any
--          more, 0 when that is not known; the id after that of the last entry of the journal that is archived, '' for none
-- returns  {'waiting', how many members and entries of the journal wait} | NOTLOADED
-- atomic   what waits and `archived` change together; `archived` rises, never falls, and `pending` goes when nothing above is under way
local meta_key, dirty_key, journal_key = unpack(KEYS)
local _, _, committed, before, journal_end = unpack(ARGV)
local found, archived, pending = current('archived', 'pending')
if not found then return 'NOTLOADED' end

if journal_end ~= '' then redis.call('XTRIM', journal_key, 'MINID', journal_end) end
redis.call('ZREMRANGEBYSCORE', dirty_key, '-inf', committed)
if committed + 0 > archived + 0 then redis.call('HSET', meta_key, 'archived', committed) end
if pending and pending + 0 <= committed + 0 then redis.call('HDEL', meta_key, 'pending') end

local waiting = redis.call('ZCARD', dirty_key) + redis.call('XLEN', journal_key)
if waiting == 0 then
  redis.call('HDEL', meta_key, 'since')
elseif before ~= '0' then
  redis.call('HSET', meta_key, 'since', before)
end
return {'waiting', waiting}
