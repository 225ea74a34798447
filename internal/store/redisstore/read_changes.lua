-- Reads the changed members of a guild that have waited longest for the snapshot writer, and its journal, and notes in `pending` up to which
-- rev the archive may hold the guild from now on, and in `read` at which rev this was. They stay noted as changed until end_changes.lua; one
-- that changes meanwhile is noted again (note.lua). The archive itself sees whether the guild fits it. A member is read only with all of the
-- journal: the archive holds the record of a request before, or with, what it did.
-- Who changes again after a page that may not be archived is noted by the later change (note.lua). A page that ends below the rev in `doubt` may
-- lack their earlier changes.
--
-- KEYS     meta xp entry dirty journal
-- ARGV     up to how many members, and those that share the last one's rev
-- returns  {} when the guild is not loaded | {incarnation} when it was not verified on this life of the server | {incarnation, epoch} when
--          nothing waits | {incarnation, epoch, the guild's rev, up to which rev all that waits is here (0: no members are), archived and pending
--          (or archived) as they were, now in ms, 1 if earlier changes may be missing, else 0, {member, ...}, {xp | nil, ...}, {entry | nil, ...}, {entry of the journal: {id, {field, value,
--          ...}}, ...}}
-- atomic   all entries and revs are of one moment, and so is the note
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending', 'doubt')
if not meta[1] then return {} end
if meta[2] ~= SERVER and meta[2] ~= FROZEN then return {meta[1]} end
local size, rev, archived, pending, doubt = tonumber(ARGV[1]), meta[4], meta[5], meta[6], meta[7]
local journal, members, upto = redis.call('XRANGE', KEYS[5], '-', '+', 'COUNT', 1000), {}, rev
if #journal == 1000 and redis.call('XLEN', KEYS[5]) > 1000 then
  upto = '0'
else
  members = redis.call('ZRANGE', KEYS[4], '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, size)
  if #members == 0 and #journal == 0 then return {meta[1], meta[3]} end
  if #members == size then
    local last = string.format('%.0f', redis.call('ZMSCORE', KEYS[4], members[size])[1] + 0)
    if redis.call('ZCOUNT', KEYS[4], '(' .. last, '+inf') > 0 then upto = last end
    members = redis.call('ZRANGE', KEYS[4], '-inf', last, 'BYSCORE')
  end
end
redis.call('HSET', KEYS[1], 'read', rev)
if tonumber(upto) > tonumber(pending or archived) then redis.call('HSET', KEYS[1], 'pending', upto) end
local xp, entry = entries(2, members, 1)
local known = archived
if pending and tonumber(pending) > tonumber(archived) then
  known, doubt = pending, rev
  redis.call('HSET', KEYS[1], 'doubt', rev)
end
local missing = doubt and tonumber(upto) < tonumber(doubt) and 1 or 0
return {meta[1], meta[3], rev, upto, archived, known, now(), missing, members, xp, entry, journal}
