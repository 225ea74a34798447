-- Reads members for the snapshot writer and notes the rev that the archive may hold from now on.
--
-- KEYS     meta xp entry dirty
-- ARGV     incarnation, epoch, what the archive holds, members...
-- returns  {rev, {xp | nil, ...}, {entry | nil, ...}, archived, pending | nil}, with nil where there is no entry, and archived and
--          pending as they were before | NOTLOADED | STALE
-- atomic   all entries and rev are of one moment; `pending` in meta is that rev until the archive's commit is noted
if not current() then return 'NOTLOADED' end
if not raise(ARGV[3]) then return 'STALE' end
local xp, entry = entries(2, ARGV, 4)
return {rev, xp, entry, archived, pending}
