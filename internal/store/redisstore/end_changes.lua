-- Notes that the archive has committed what read_changes.lua read, and that nothing waits any more when nothing has changed since.
--
-- KEYS     meta dirty
-- ARGV     incarnation, epoch, rev of the batch
-- returns  {1} when the guild has changed since, and then all that changed still waits | {0} | NOTLOADED
-- atomic   the rev is compared, and noted, in the step that drops the note of what changed
if not current() then return 'NOTLOADED' end
if rev ~= ARGV[3] then
  archive(ARGV[3])
  return {1}
end
archive(ARGV[3], 'since')
redis.call('UNLINK', KEYS[2])
return {0}
