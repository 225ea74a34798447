-- Notes that the archive has committed a batch.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, rev of the batch
-- returns  {} | NOTLOADED
-- atomic   `archived` and `pending` are noted together
archive(ARGV[3])
return {}
