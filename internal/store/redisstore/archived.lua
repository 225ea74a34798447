-- Notes that the archive has committed a batch.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, rev of the batch
-- returns  {} | NOTLOADED
-- atomic   `archived` and `pending` are noted together
if not current() then return 'NOTLOADED' end
archive(ARGV[3])
return {}
