-- Reads the changed members of a guild that have waited longest, and its journal, for the snapshot writer. Both stay until
-- end_changes.lua. `pending` becomes the rev up to which the archive may hold the guild from now on, `read` the rev at this moment.
-- Members are read only with the whole journal, so the archive never gets the effect of a request before its record. A member that
-- changes again after a page that was not archived is noted with the later rev, so a page below the rev in `doubt` may lack changes.
--
-- KEYS     meta xp off entry dirty journal
-- ARGV     how many members at most, not counting those that share the last one's rev
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
