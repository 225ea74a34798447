-- How each script that changes members begins: it names what it shares with the others, and answers a request that was made before.
--
-- KEYS     meta xp off entry dirty events journal, the record of the request, hidden, and with a calendar the boards of the day, week,
--          month and season
-- ARGV     incarnation, flags (loaded.lua), days (gains.lua, '': no calendar), curve (level.lua), what the audit log shall say of the
--          change ('': nothing), and of a request that a client may send again its name ('': it has none), what it asks for, what the
--          archive knows of it, and how long its record is kept, in ms; then the script's own. The archive knows '' (it was not asked), or
--          the epoch and '-' (nothing), '+' (a part of it, which is in the script's own arguments) or the outcome.
local meta_key, xp_key, off_key, entry_key, dirty_key, events_key, journal_key, once_key, hidden_key = unpack(KEYS, 1, 9)
local incarnation, _, days, curve, audit, name, request, past, ttl = unpack(ARGV, 1, 9)
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local time = now()

-- The record of a request: incarnation, what it asked for and the outcome, with a space between.
local function write_record(outcome)
  redis.call('SET', once_key, incarnation .. ' ' .. request .. ' ' .. outcome, 'PX', ttl)
end

-- While records of before the last load may be lost ('ask' of meta: until when), the archive has to be asked: ASKARCHIVE and the epoch,
-- for which alone its answer counts.
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
    write_record(known) -- lost, and found again
    return {'replayed', known}
  end
end

-- Decides on which set a member's XP is: on the board, or off it. absent is of the entry, flags are what hidden_key has of the member.
local function seat(absent, flags) return (absent == 'a' or flags) and off_key or xp_key end

-- Records what a request did, if it has a name or the audit log wants it: under its name, for a repeat, and in the journal, for the
-- archive. before and after are XP, for the audit log.
local function record(users, outcome, before, after)
  local entry = {}
  if name ~= '' then
    write_record(outcome)
    entry = {'n', name, 'q', request, 'r', rev, 'o', outcome, 'u', users}
    if string.find(past, '^%d+ %+$') then entry[11], entry[12] = 'p', 1 end -- the rest of a step
  end
  if audit ~= '' then
    for _, word in ipairs({'a', audit, 'b', before or '', 'c', after or ''}) do entry[#entry + 1] = word end
  end
  if #entry > 0 then redis.call('XADD', journal_key, '*', unpack(entry)) end
end
