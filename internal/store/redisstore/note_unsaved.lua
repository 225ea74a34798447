-- Notes members for the next snapshot that have not changed, there or not, and tells what the archive is known to hold.
--
-- KEYS     meta dirty
-- ARGV     incarnation, epoch, members...
-- returns  {'archived', rev} | NOTLOADED
-- atomic   the check, the note and the guild's rev, so that a batch that was read before does not end what is noted (end_changes.lua)
local meta_key, dirty_key = unpack(KEYS)
local found, rev, since, archived = current('rev', 'since', 'archived')
if not found then return 'NOTLOADED' end
if #ARGV > 2 then
  local noted = {}
  rev = rev + 1
  for i = 3, #ARGV do noted[#noted + 1], noted[#noted + 2] = rev, ARGV[i] end
  redis.call('ZADD', dirty_key, unpack(noted))
  -- Who waited already is noted by a later rev now (read_changes.lua), so `doubt` rises.
  redis.call('HSET', meta_key, 'rev', rev, 'doubt', rev, 'since', since or now())
end
return {'archived', archived}
