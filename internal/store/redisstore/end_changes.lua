-- Removes the notes of members and the journal's entries that read_changes.lua read, after the archive committed them. Members that
-- changed since have a higher rev and stay noted.
--
-- KEYS     meta dirty journal
-- ARGV     incarnation, epoch, the rev up to which all changes are archived; the time in ms before which no change waits any more, 0 when
--          that is unknown; the id after the journal's last archived entry, '' for none
-- returns  {'waiting', how many members and entries of the journal wait} | NOTLOADED
-- atomic   all of it. `archived` never falls, and `pending` is removed when no batch above it is under way
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
