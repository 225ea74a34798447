-- Reads the changed members of a guild that have waited longest for the snapshot writer, and its journal, and notes in `pending` up to
-- which rev the archive may hold the guild from now on, and in `read` at which rev this was. They wait until end_changes.lua. A member is
-- read only with all of the journal: the archive holds the record of a request before, or with, what it did. Who changes again after a
-- page that may not be archived is noted by the later change, so a page that ends below the rev in `doubt` may lack earlier changes.
--
-- KEYS     meta xp off entry dirty journal
-- ARGV     up to how many members, and those that share the last one's rev
-- returns  {} when the guild is not loaded | {'incarnation', incarnation} when it was not verified on this life of the server | {...,
--          'epoch', epoch} when nothing waits | {..., 'rev', the guild's rev, 'upto', up to which rev all that waits is here (0: no
--          members are), 'archived', as it was, 'known', pending (or archived) as it was, 'now', in ms, 'missing', 1 if earlier changes
--          may be missing, else 0, 'members', {member, ...}, 'xp', 'entries' as in rows.lua, 'journal', {{id, {field, value,
--          ...}}, ...}}
-- atomic   all entries and revs are of one moment, and so is the note
local meta_key, xp_key, off_key, entry_key, dirty_key, journal_key = unpack(KEYS)
local size = ARGV[1] + 0
local meta = redis.call('HMGET', meta_key, 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending', 'doubt')
local incarnation, server, epoch, rev, archived, pending, doubt = unpack(meta, 1, 7)
if not incarnation then return {} end
if server ~= SERVER and server ~= FROZEN then return {'incarnation', incarnation} end

local journal, members, upto = redis.call('XRANGE', journal_key, '-', '+', 'COUNT', 1000), {}, rev
if #journal == 1000 and redis.call('XLEN', journal_key) > 1000 then
  upto = 0
else
  members = redis.call('ZRANGE', dirty_key, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, size)
  if #members == 0 and #journal == 0 and rev == archived then return {'incarnation', incarnation, 'epoch', epoch} end
  if #members == size then
    local last = redis.call('ZMSCORE', dirty_key, members[size])[1] + 0
    if redis.call('ZCOUNT', dirty_key, '(' .. last, '+inf') > 0 then upto = last end
    members = redis.call('ZRANGE', dirty_key, '-inf', last, 'BYSCORE')
  end
end

local known = archived
redis.call('HSET', meta_key, 'read', rev)
if pending and pending + 0 > archived + 0 then
  known, doubt = pending, rev
  redis.call('HSET', meta_key, 'doubt', rev)
end
if upto + 0 > (pending or archived) + 0 then redis.call('HSET', meta_key, 'pending', upto) end
local missing = doubt and upto + 0 < doubt + 0 and 1 or 0
local xp, entries = rows(xp_key, off_key, entry_key, members)
return {'incarnation', incarnation, 'epoch', epoch, 'rev', rev, 'upto', upto, 'archived', archived, 'known', known, 'now', now(),
  'missing', missing, 'members', members, 'xp', xp, 'entries', entries, 'journal', journal}
