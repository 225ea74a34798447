-- Notes members for the next snapshot that did not change and need not exist, and returns `archived`.
--
-- KEYS     meta dirty
-- ARGV     incarnation, epoch, members...
-- returns  {'archived', rev} | NOTLOADED
-- atomic   the check, the note and the guild's rev, so that the end of a batch read earlier does not remove the note (end_changes.lua)
local meta_key, dirty_key = unpack(KEYS)
local found, rev, since, archived = current('rev', 'since', 'archived')
if not found then return 'NOTLOADED' end
if #ARGV > 2 then
  local noted = {}
  rev = rev + 1
  for i = 3, #ARGV do noted[#noted + 1], noted[#noted + 2] = rev, ARGV[i] end
  redis.call('ZADD', dirty_key, unpack(noted))
  -- Members that waited already have a later rev now (read_changes.lua), so `doubt` rises.
  redis.call('HSET', meta_key, 'rev', rev, 'doubt', rev, 'since', since or now())
end
return {'archived', archived}
