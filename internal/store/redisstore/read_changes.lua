-- Reads the changed members of a guild that have waited longest for the snapshot writer, and its journal, and notes in `pending` up to which
-- rev the archive may hold the guild from now on, and in `read` at which rev this was. They stay noted as changed until end_changes.lua; one
-- that changes meanwhile is noted anew (note.lua). The archive itself sees whether the guild fits it. A member is read only with all of the
-- journal: the archive holds the record of a request before, or with, what it did.
--
-- KEYS     meta xp entry dirty journal
-- ARGV     up to how many members, and those that share the last one's rev; only those after this rev; and, if not empty, all up to this one
-- returns  {} when the guild is not loaded | {incarnation} when it was not verified on this life of the server | {incarnation, epoch} when
--          nothing waits | {incarnation, epoch, the guild's rev, after and up to which rev all that waits is here (0: no members are), archived
--          and pending (or archived) as they were, how many members wait, now in ms, {member, rev, ...}, {xp | nil, ...}, {entry | nil, ...},
--          {rev, ...: up to three, where the next pages of 1,000 members end}, {entry of the journal: {id, {field, value, ...}}, ...}}
-- atomic   all entries and revs are of one moment, and so is the note
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending')
if not meta[1] then return {} end
if meta[2] ~= SERVER then return {meta[1]} end
local size, after, upto, rev, archived, pending = tonumber(ARGV[1]), ARGV[2], ARGV[3], meta[4], meta[5], meta[6]
local waiting, journal, revs = redis.call('ZCARD', KEYS[4]) - 1, redis.call('XRANGE', KEYS[5], '-', '+', 'COUNT', 1000), {}
if #journal == 1000 and redis.call('XLEN', KEYS[5]) > 1000 then
  upto = '0'
elseif upto == '' then
  revs = redis.call('ZRANGE', KEYS[4], '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, size, 'WITHSCORES')
  if #revs == 0 and #journal == 0 then return {meta[1], meta[3]} end
  upto = rev
  if #revs == 2 * size then
    local last = string.format('%.0f', score(revs[2 * size]))
    if redis.call('ZCOUNT', KEYS[4], '(' .. last, '+inf') > 0 then upto = last end
    revs = redis.call('ZRANGE', KEYS[4], '(' .. after, last, 'BYSCORE', 'WITHSCORES')
  end
else
  revs = redis.call('ZRANGE', KEYS[4], '(' .. after, upto, 'BYSCORE', 'WITHSCORES')
end
put('read', rev)
if tonumber(upto) > tonumber(pending or archived) then put('pending', upto) end
local members, ends = {}, {}
for i = 1, #revs, 2 do members[#members + 1] = revs[i] end
local xp, entry = entries(2, members, 1)
for i = 1, #revs > 0 and upto ~= rev and 3 or 0 do
  ends[i] = redis.call('ZRANGE', KEYS[4], '(' .. upto, '+inf', 'BYSCORE', 'LIMIT', i * 1000 - 1, 1, 'WITHSCORES')[2]
end
local known = pending and tonumber(pending) > tonumber(archived) and pending or archived
return {meta[1], meta[3], rev, after, upto, archived, known, waiting, now(), revs, xp, entry, ends, journal}
