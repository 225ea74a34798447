-- Removes an idle guild that is fully archived. Its log of events stays for an hour, and the records of its requests until they expire.
-- Two marks tell the next load that neither is lost.
--
-- KEYS     meta lock dirty journal events evicted, then all other keys of the guild
-- ARGV     incarnation, epoch, the archive's archived, the ms without use after which a guild is idle, how long a record lasts in ms, and
--          the token of a process that froze the guild and found all of it archived, or ''
-- returns  {'gone', 1, or 0: the guild has changed or is in use} | NOTLOADED
-- atomic   all checks and the removal: a request finds the whole guild, or none and loads it
local meta_key, lock_key, dirty_key, journal_key, events_key, evicted_key = unpack(KEYS, 1, 6)
local incarnation, epoch, known, idle, record_ms, token = unpack(ARGV)
local found, rev, archived, pending, used, ask = current('rev', 'archived', 'pending', 'used', 'ask')
if not found then return 'NOTLOADED' end
local time = now()
if token ~= '' then
  if redis.call('GET', lock_key) ~= token .. '@' .. SERVER then return {'gone', 0} end
else
  -- A `pending` of at most `archived` was left by a writer that died.
  local busy = rev ~= archived or rev ~= known or pending and pending + 0 > archived + 0 or redis.call('EXISTS', lock_key) > 0
  local waits = redis.call('ZCARD', dirty_key) > 0 or redis.call('XLEN', journal_key) > 0
  if busy or waits or time - (used or 0) < idle + 0 then return {'gone', 0} end
end

redis.call('UNLINK', meta_key, lock_key, dirty_key, journal_key, unpack(KEYS, 7))
if redis.call('XLEN', events_key) == 0 then
  redis.call('UNLINK', events_key)
else
  redis.call('XADD', events_key, '*', 'e', epoch, 's', SERVER)
  redis.call('PEXPIRE', events_key, 3660000) -- package events relies on an hour; the minute is its margin
end
redis.call('SET', evicted_key, table.concat({incarnation, ask, epoch, SERVER}, ' '), 'PX', record_ms)
return {'gone', 1}
