-- What scripts that change members have in common about the request that asks for it.
--
-- Their KEYS are meta xp off entry dirty events journal, the record of the request, and with a calendar the boards of the day, week,
-- month and season. Their ARGV begin with incarnation, days (gains.lua), curve (level.lua), what the audit log shall say of the change
-- ('': nothing), and of a request with a name, which a client may send again: its name ('': it has none), what it asks for, what the
-- archive knows of it, and how long its record is kept, in ms. The archive knows '' (it was not asked), or the epoch and '-' (nothing),
-- '+' (a part of it, which is in the other arguments) or the outcome.

-- The record of a request: incarnation, what it asked for and the outcome, with a space between.
local function write_record(once_key, keyed, outcome)
  redis.call('SET', once_key, ARGV[1] .. ' ' .. keyed.request .. ' ' .. outcome, 'PX', keyed.ttl)
end

-- Answers a request that was made before, or that may not be made, without changing anything; nil for one that is to be made. While
-- records of before the last load may be lost ('ask' of meta: until when), the archive has to be asked: ASKARCHIVE and the epoch, for
-- which alone its answer counts.
local function replayed(meta_key, once_key, keyed, time)
  if keyed.name == '' then return end
  local record = redis.call('GET', once_key)
  if record then
    local incarnation, request, outcome = string.match(record, '^(%d+) (%S+) (.+)$')
    if not outcome then return redis.error_reply('ERR a record of a request is damaged') end
    if request ~= keyed.request then return 'KEYREUSED' end
    if incarnation == ARGV[1] then return {'replayed', outcome} end
  end
  local epoch, past = string.match(keyed.past, '^(%d+) (.+)$')
  local current, ask = unpack(redis.call('HMGET', meta_key, 'epoch', 'ask'))
  if not epoch and ask + 0 <= time then return end
  if epoch ~= current then return 'ASKARCHIVE ' .. current end
  if past == '-' or past == '+' then return end
  write_record(once_key, keyed, past) -- lost, and found again
  return {'replayed', past}
end

-- Records what a request did, if it has a name or the audit log wants it: under its name, for a repeat, and in the journal, for the
-- archive. did has rev, users and outcome, and for the audit log XP before and after.
local function record(journal_key, once_key, keyed, audit, did)
  local entry = {}
  if keyed.name ~= '' then
    write_record(once_key, keyed, did.outcome)
    entry = {'n', keyed.name, 'q', keyed.request, 'r', did.rev, 'o', did.outcome, 'u', did.users}
    if string.find(keyed.past, '^%d+ %+$') then entry[11], entry[12] = 'p', 1 end -- the rest of a step
  end
  if audit ~= '' then
    for _, word in ipairs({'a', audit, 'b', did.before or '', 'c', did.after or ''}) do entry[#entry + 1] = word end
  end
  if #entry > 0 then redis.call('XADD', journal_key, '*', unpack(entry)) end
end
