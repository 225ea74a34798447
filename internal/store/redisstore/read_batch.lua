-- Reads members for the snapshot writer and notes the rev that the archive may hold from now on. It is one that no batch before has:
-- when nothing has changed since the last one, rev goes up by one.
--
-- KEYS     meta xp entry dirty
-- ARGV     incarnation, epoch, what the archive holds, members...
-- returns  {rev, {xp | nil, ...}, {entry | nil, ...}, archived, pending | nil}, with nil where there is no entry, and archived and
--          pending as they were before | NOTLOADED | STALE
-- atomic   all entries and rev are of one moment; `pending` in meta is that rev until the archive's commit is noted
if not current() then return 'NOTLOADED' end
-- When this Redis does not know of what the archive holds, it has gone back in time: once pending was raised, it would look as if it
-- knew. A writer that dies leaves with pending a trace of what it may have committed. rev says nothing: changes raise it on old data too.
if math.max(tonumber(archived), tonumber(pending or archived)) < tonumber(ARGV[3]) then return 'STALE' end
put('pending', rev)
-- No two batches of rows have the same rev: when the archive loses the later one, its archived tells.
if ARGV[4] and (rev == archived or rev == pending) then
  rev = string.format('%.0f', tonumber(rev) + 1)
  redis.call('HSET', KEYS[1], 'rev', rev, 'pending', rev)
end
local xp, entry = entries(2, ARGV, 4)
return {rev, xp, entry, archived, pending}
