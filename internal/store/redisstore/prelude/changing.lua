-- What scripts that change members have in common; after append.lua, counting.lua and packed.lua.

-- What a change that a client may send again is answered when it was made before, its first outcome, or may not be made;
-- otherwise nothing. A script that makes one asks this after loaded. A record is when it was made, the incarnation, the request
-- and the outcome, with a space between; or it is a fence, which stops what claimed the name under a lower number (claim.lua, fence.lua).
-- Where Redis has lost records (commit_hydration.lua), or has only the name of this one (packed.lua), the archive has to be asked first: ASKARCHIVE and the
-- epoch, for which alone the answer counts: later, the request may have been made and lost. When the archive has lost a request that was made, it is not
-- made again: OUTCOMELOST.
-- KEYS[1] meta, and when the journal is written the last two of KEYS, after the boards (counting.lua) if they are there: the records and the journal;
-- ARGV[1] incarnation, and with these the last five of ARGV: the number of the claim, the request, its name, or '' for none, what the archive knows:
-- '' when it was not asked, else the epoch and '-' for nothing, '+' for a part, which is in the other arguments, or the outcome; and what the audit log
-- shall say of the change, or '' for nothing.
local function journaled() return #KEYS == 7 or #KEYS == 11 end
local function named() return journaled() and ARGV[#ARGV - 2] ~= '' end

local function once()
  if not named() then return end
  local records = KEYS[#KEYS - 1]
  local number, request, name, answer = unpack(ARGV, #ARGV - 4, #ARGV - 1)
  local known = redis.call('HMGET', records, name, '', packedfield(ARGV[1], name))
  local fence = known[1] and string.match(known[1], '^%d+ fence (%d+)$')
  if fence then
    if tonumber(fence) > tonumber(number) then return 'CLAIMLOST' end
  elseif known[1] then
    local incarnation, was, outcome = string.match(known[1], '^%d+ (%d+) (%S+) (.+)$')
    if not outcome then return redis.error_reply('ERR a record of a request is damaged') end
    if was ~= request then return 'KEYREUSED' end
    if incarnation == ARGV[1] then return {'REPLAYED', outcome} end
  end
  local made = known[3] and holds(known[3], name)
  local epoch, past = string.match(answer, '^(%d+) (.+)$')
  if not epoch then
    local ask = string.match(known[2] or '', '^%d+ %+?(%d+)')
    if not made and ask and tonumber(ask) <= now() then return end
  end
  local current = redis.call('HGET', KEYS[1], 'epoch')
  if epoch ~= current then return 'ASKARCHIVE ' .. current end
  if past == '-' or past == '+' then return made and 'OUTCOMELOST' or nil end
  if not made then redis.call('HSET', records, name, table.concat({stamp(), ARGV[1], request, past}, ' ')) end -- lost, and found again
  return {'REPLAYED', past}
end

-- Records the outcome of a change that is made to users, at a rev, if it has a name, and what it did for the audit log, which may want XP before
-- and after: one entry of the journal, for the archive. KEYS and ARGV as for once.
local function record(rev, users, outcome, audit, before, after)
  local entry = {}
  if named() then
    local request, name = ARGV[#ARGV - 3], ARGV[#ARGV - 2]
    redis.call('HSET', KEYS[#KEYS - 1], name, table.concat({stamp(), ARGV[1], request, outcome}, ' '))
    entry = {'n', name, 'q', request, 'r', rev, 'o', outcome, 'u', users}
    if string.find(ARGV[#ARGV - 1], '^%d+ %+$') then entry[11], entry[12] = 'p', 1 end -- the rest of a step
  end
  if audit ~= '' then
    local n = #entry
    entry[n + 1], entry[n + 2], entry[n + 3], entry[n + 4], entry[n + 5], entry[n + 6] = 'a', audit, 'b', before or '', 'c', after or ''
  end
  if #entry > 0 then redis.call('XADD', KEYS[#KEYS], '*', unpack(entry)) end
end

-- What the audit log shall say, as record takes it.
local function audited() return journaled() and ARGV[#ARGV] or '' end

-- Records the outcome of a request that changed nothing, so that it stays so when it is repeated: the journal
-- waits for a snapshot as a member does. since and rev are what meta has.
local function unchanged(since, rev, outcome)
  if not named() then return end
  if not since then redis.call('HSET', KEYS[1], 'since', stamp()) end
  record(rev, '', outcome, '')
end

-- The message count, the end of the cooldown, the gains (counting.lua) and the user data of an entry, all as text; of the user data with the
-- space before it. Gains and user data are '' when there are none. Nothing when the entry is damaged.
local function parts(entry)
  local _, _, count, ends, gains, user = string.find(entry, '^(%d+) %d+ (%d+)([^ ]*)(.*)$')
  if user and #user ~= 1 and (gains == '' or string.byte(gains) == 59) then return count, ends, gains, user end
end

-- Appends an event to the guild's log. The first one after a load puts the load's mark, which until then is in meta, before itself.
-- The mark is looked for here, since nearly all changes are no event, and once, since a step may have many.
-- KEYS[1] meta.
local looked
local function event(key, ...)
  local marked = looked ~= KEYS[1] and redis.call('HGET', KEYS[1], 'marked')
  looked = KEYS[1]
  if marked then
    if redis.call('XLEN', key) == 0 then append(key, marked .. '-0', 'r', redis.call('HGET', KEYS[1], 'epoch')) end
    redis.call('HDEL', KEYS[1], 'marked')
  end
  append(key, '*', ...)
end

-- Puts a change of level into the guild's log of events, by the curve that the caller sent: "", and nothing is noted; or "any", and
-- whatever changed XP is; or the highest level that anybody can reach, how far off a value below may be, and 5 coefficients,
-- with a space between. No change of level is missed; one that is none may be noted, and whoever reads the log has exact
-- arithmetic to see it.
-- KEYS[5] events; ARGV[3].
local leveled
do
  local args, known, top, slack, c0, c1, c2, c3, c4, highest
  local floor, tonumber = math.floor, tonumber

  local function value(n) return (((c4 * n + c3) * n + c2) * n + c1) * n + c0 end

  local function read()
    args = ARGV
    local text = ARGV[3]
    if text == known then return end
    known, top, slack = text, 0, 0
    if text == '' then return end
    if text == 'any' then
      top = nil
      return
    end
    local _
    _, _, top, slack, c0, c1, c2, c3, c4 = string.find(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    top, slack, c0, c1, c2, c3, c4 = tonumber(top), tonumber(slack), tonumber(c0), tonumber(c1), tonumber(c2), tonumber(c3), tonumber(c4)
    highest = value(top)
  end

  -- The lowest level whose value is at least v, or top + 1.
  local function lowest(v)
    if top == 0 or highest < v then return top + 1 end
    local low, high = 1, top
    while low < high do
      local middle = floor((low + high) / 2)
      if value(middle) >= v then high = middle else low = middle + 1 end
    end
    return low
  end

  function leveled(member, before, after)
    if after == before then return end
    if ARGV ~= args then read() end
    if top then
      -- A level begins above low and not above high when its value is at least low + 0.5 and below high + 0.5.
      local low, high = math.min(before, after), math.max(before, after)
      local n = lowest(low + 0.5 - slack)
      if n > top or value(n) >= high + 0.5 + slack then return end
    end
    event(KEYS[5], 'u', member, 'b', before, 'a', after)
  end
end
