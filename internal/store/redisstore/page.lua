-- Reads a stretch of the board.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, first and last position (from 0, both included)
-- returns  {epoch, rev, {member, xp, member, xp, ...}, {entry, ...}} | NOTLOADED
-- atomic   rows and version are of one moment; nothing is changed
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
local rows = redis.call('ZREVRANGE', KEYS[2], ARGV[2], ARGV[3], 'WITHSCORES')
if rows[#rows - 1] == '' then rows[#rows], rows[#rows - 1] = nil, nil end -- which keeps the board from being empty (commit_hydration.lua)
local members = {}
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
return {epoch, rev, rows, values('HMGET', KEYS[3], members, 1)}
