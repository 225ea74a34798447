-- Takes a guild's hydration lock and tells what Redis holds of the guild.
--
-- KEYS     meta lock
-- ARGV     incarnation, token, how long the lock lasts without a chunk in ms, the archive's epoch, its archived, and how many earlier
--          epochs count as the same (snapshot.State)
-- returns  {'found', 0 nothing of that incarnation | 1 it is loaded and verified: no lock was taken | 2 another process holds the lock |
--           3, 'rev', rev: it holds all that is archived, and only has to be verified | 4 it is older than the archive |
--           5 its epoch is later than the archive's, so the archive is older |
--           6 another version of Levelboard loaded it: no lock was taken}
-- atomic   the check and the lock
local meta_key, lock_key = unpack(KEYS)
local incarnation, token, lock_ms, archive_epoch, archive_archived, good_epochs = unpack(ARGV)
local meta = redis.call('HMGET', meta_key, 'incarnation', 'server', 'format', 'epoch', 'archived', 'pending', 'rev')
local of, server, format, epoch, archived, pending, rev = unpack(meta, 1, 7)
local there = of == incarnation
if there and format ~= FORMAT then return {'found', 6} end
if there and server == SERVER then return {'found', 1} end

-- Ignore a lock restored from the AOF or RDB of an earlier server run; its holder is gone.
local lock = redis.call('GET', lock_key)
if lock and string.sub(lock, -#SERVER - 1) == '@' .. SERVER then return {'found', 2} end
redis.call('SET', lock_key, token .. '@' .. SERVER, 'PX', lock_ms)
if not there then return {'found', 0} end

if epoch + 0 > archive_epoch + 0 then return {'found', 5} end
local known = math.max(archived, pending or archived)
if known >= archive_archived + 0 and epoch + 0 >= archive_epoch - good_epochs then return {'found', 3, 'rev', rev} end
return {'found', 4}
