-- What scripts that change members have in common about the request that asks for it.
--
-- Their KEYS are meta xp off entry dirty events journal once, and with a calendar the boards of the day, week, month and season. Their ARGV begin
-- with incarnation, days (gains.lua), curve (level.lua), what the audit log shall say of the change ('': nothing), and of a request with a name,
-- which a client may send again: the number of its claim (claim.lua), its name ('': it has none), what it asks for, and what the archive knows of
-- it: '' (it was not asked), or the epoch and '-' (nothing), '+' (a part of it, which is in the other arguments) or the outcome.

-- Answers a request that was made before, or that may not be made, without changing anything; nil for one that is to be made. A record is time,
-- incarnation, request and outcome, with a space between, or a fence, which stops a claim with a lower number (fence.lua). Where Redis lost records
-- (commit_hydration.lua), or has only the name of this one (packed.lua), the archive has to be asked: ASKARCHIVE and the epoch, for which alone its
-- answer counts. When the archive has lost a request that was made, it is not made again: OUTCOMELOST.
local function replayed(meta_key, once_key, keyed, time)
  if keyed.name == '' then return end
  local known = redis.call('HMGET', once_key, keyed.name, '', packedfield(ARGV[1], keyed.name))
  local fence = known[1] and string.match(known[1], '^%d+ fence (%d+)$')
  if fence then
    if fence + 0 > keyed.number + 0 then return 'CLAIMLOST' end
  elseif known[1] then
    local incarnation, was, outcome = string.match(known[1], '^%d+ (%d+) (%S+) (.+)$')
    if not outcome then return redis.error_reply('ERR a record of a request is damaged') end
    if was ~= keyed.request then return 'KEYREUSED' end
    if incarnation == ARGV[1] then return {'replayed', outcome} end
  end
  local made = known[3] and holds(known[3], keyed.name)
  local epoch, past = string.match(keyed.past, '^(%d+) (.+)$')
  if not epoch then
    local ask = string.match(known[2] or '', '^%d+ %+?(%d+)')
    if not made and ask and ask + 0 <= time then return end
  end
  local current = redis.call('HGET', meta_key, 'epoch')
  if epoch ~= current then return 'ASKARCHIVE ' .. current end
  if past == '-' or past == '+' then return made and 'OUTCOMELOST' or nil end
  if not made then redis.call('HSET', once_key, keyed.name, table.concat({time, ARGV[1], keyed.request, past}, ' ')) end -- lost, and found again
  return {'replayed', past}
end

-- Records what a request did, if it has a name or the audit log wants it: in the journal, for the archive, and under its name, for a repeat.
-- did has rev, users and outcome, and for the audit log XP before and after.
local function record(journal_key, once_key, keyed, audit, time, did)
  local entry = {}
  if keyed.name ~= '' then
    redis.call('HSET', once_key, keyed.name, table.concat({time, ARGV[1], keyed.request, did.outcome}, ' '))
    entry = {'n', keyed.name, 'q', keyed.request, 'r', did.rev, 'o', did.outcome, 'u', did.users}
    if string.find(keyed.past, '^%d+ %+$') then entry[11], entry[12] = 'p', 1 end -- the rest of a step
  end
  if audit ~= '' then
    for _, word in ipairs({'a', audit, 'b', did.before or '', 'c', did.after or ''}) do entry[#entry + 1] = word end
  end
  if #entry > 0 then redis.call('XADD', journal_key, '*', unpack(entry)) end
end
