-- The beginning of each script that changes members. It names the shared keys and arguments, and answers a repeated request.
--
-- KEYS     meta xp off entry dirty events journal, the record of the request, hidden, and with a calendar the boards of the day, week,
--          month and season
-- ARGV     incarnation, flags (loaded.lua), days (gains.lua, '': no calendar), curve (level.lua), the change's text for the audit log ('':
--          none); for a request that a client may repeat its name ('': none), a digest of its content, the archive's record of it, and how
--          long Redis keeps its record in ms; then the script's own. The archive's record is '' (the archive was not asked), or the epoch
--          and '-' (no record), '+' (a partial one, which is in the script's own arguments) or the outcome.
local meta_key, xp_key, off_key, entry_key, dirty_key, events_key, journal_key, once_key, hidden_key = unpack(KEYS, 1, 9)
local incarnation, _, days, curve, audit, name, request, past, ttl = unpack(ARGV, 1, 9)
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local time = now()

-- Writes the record of a request: incarnation, digest of its content and outcome, separated by spaces.
local function write_record(outcome)
  redis.call('SET', once_key, incarnation .. ' ' .. request .. ' ' .. outcome, 'PX', ttl)
end

-- Until the time in meta's 'ask', records from before the last load may be lost. Then the caller must ask the archive: ASKARCHIVE names
-- the epoch, and the archive's answer counts for that epoch only.
if name ~= '' then
  local kept = redis.call('GET', once_key)
  if kept then
    local of, asked, outcome = string.match(kept, '^(%d+) (%S+) (.+)$')
    if not outcome then return redis.error_reply('ERR a record of a request is damaged') end
    if asked ~= request then return 'KEYREUSED' end
    if of == incarnation then return {'replayed', outcome} end
  end
  local epoch, ask = unpack(redis.call('HMGET', meta_key, 'epoch', 'ask'))
  local known_epoch, known = string.match(past, '^(%d+) (.+)$')
  if known_epoch ~= epoch and (known_epoch or ask + 0 > time) then return 'ASKARCHIVE ' .. epoch end
  if known and known ~= '-' and known ~= '+' then
    write_record(known) -- Redis lost it
    return {'replayed', known}
  end
end

-- Returns the set for a member's XP: the board, or the members off it. absent is the entry's field, flags are the member's in hidden_key.
local function seat(absent, flags) return (absent == 'a' or flags) and off_key or xp_key end

-- Records the outcome of a request that has a name or belongs in the audit log: under its name, for a repeat, and in the journal, for the
-- archive. before and after are XP, for the audit log.
local function record(users, outcome, before, after)
  local entry = {}
  if name ~= '' then
    write_record(outcome)
    entry = {'n', name, 'q', request, 'r', rev, 'o', outcome, 'u', users}
    if string.find(past, '^%d+ %+$') then entry[11], entry[12] = 'p', 1 end -- an earlier run made a part of this step
  end
  if audit ~= '' then
    for _, word in ipairs({'a', audit, 'b', before or '', 'c', after or ''}) do entry[#entry + 1] = word end
  end
  if #entry > 0 then redis.call('XADD', journal_key, '*', unpack(entry)) end
end
