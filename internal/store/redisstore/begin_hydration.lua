-- Takes a guild's hydration lock and tells what is there of the guild.
--
-- KEYS     meta lock dirty
-- ARGV     incarnation, token, how long the lock lasts without a chunk in ms, the archive's epoch, its archived, and
--          how many epochs before its own are as good (snapshot.State)
-- returns  {0 nothing of that incarnation | 1 it is loaded and verified: no lock was taken | 2 somebody else holds the lock |
--           3, rev: it holds all that is archived, and only has to be verified | 4 it is older than the archive |
--           5 it is of a later epoch than the archive, which is the older one then |
--           6 it is of an earlier format, and the archive does not hold all of it: no lock was taken |
--           7 it is of a later format: no lock was taken}
-- atomic   the check and the lock
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'archived', 'pending', 'format', 'rev')
local mine, format = meta[1] == ARGV[1], tonumber(meta[6] or 1)
if mine and meta[2] == SERVER then return {1} end
if mine and format > FORMAT then return {7} end
local unsaved = redis.call('EXISTS', KEYS[3]) == 1 or tonumber(meta[4] or 0) > tonumber(ARGV[5])
if mine and format < FORMAT and unsaved then return {6} end
-- A lock of an earlier life of the server, out of its append-only file or its dump, stops nobody: whoever held it has lost it.
local lock = redis.call('GET', KEYS[2])
if lock and string.sub(lock, -#SERVER - 1) == '@' .. SERVER then return {2} end
redis.call('SET', KEYS[2], ARGV[2] .. '@' .. SERVER, 'PX', ARGV[3])
if not mine then return {0} end

local epoch = tonumber(ARGV[4])
if tonumber(meta[3]) > epoch then return {5} end
if format < FORMAT then return {0} end
local known = math.max(tonumber(meta[4]), tonumber(meta[5] or meta[4]))
if known >= tonumber(ARGV[5]) and tonumber(meta[3]) >= epoch - tonumber(ARGV[6]) then return {3, meta[7]} end
return {4}
