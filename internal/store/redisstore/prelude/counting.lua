-- What scripts that change members have in common to count gains by day and by period; after now.lua and score.lua.
--
-- The caller names yesterday, today and tomorrow in the guild's zone, and the clock of the server chooses: so all changes around midnight fall
-- on one side of it, whichever replica they came through. A day is a number (days since 1970-01-01), a period its first day and the one
-- after its last ("20776-20783"), or "-" when its kind is not counted. 'gains' of meta holds the last day on which anything was gained, and
-- which day, week, month and season the sorted sets have: with a "?" behind it while what was gained before is being added up (count.lua), or
-- "-" when it was not. A period that begins after the last day has nothing to add up, so it begins by itself, empty.
--
-- 'gained:day' of meta and so on hold the sums of all gains above 0.
--
-- KEYS[1] meta, KEYS[4] dirty, KEYS[6] to KEYS[9] the gains of the day, week, month and season, when ARGV[2] is not ''; ARGV[2] when today and
-- tomorrow begin in ms, and the three days, each with its four periods: 'ms ms|day period period period period|day ...|day ...'.
local SUMS = {'gained:day', 'gained:week', 'gained:month', 'gained:season'}
local begun, opened, earned, tallied, ungained
do
  local match, day, counted, sums = string.match, nil, {}, nil
  local five = '^(%d+) (%S+) (%S+) (%S+) (%S+)$'

  -- The sets begin or end their periods as wanted; known is nil when nothing was ever counted.
  local function turned(known, wanted)
    local was, new = {match(known or '', five)}, {match(wanted, five)}
    local last = tonumber(was[1] or -1)
    for i = 2, 5 do
      local from, to = was[i], new[i]
      if from and (from == to or from == to .. '?') then
        new[i] = from
      elseif not from or to ~= '-' and last < tonumber(match(to, '^%d+')) then
        redis.call('DEL', KEYS[4 + i])
        redis.call('ZADD', KEYS[4 + i], -1, '')
        sums[i - 1] = '0'
      else
        new[i] = '-'
      end
    end
    -- No zone is more than two days behind another: else it is a clock that was set back, and what is archived of such a day is not known here.
    local now = math.max(tonumber(new[1]), last - 2)
    local latest = string.format('%.0f', math.max(now, last)) .. ' ' .. table.concat(new, ' ', 2)
    if latest ~= known then redis.call('HSET', KEYS[1], 'gains', latest) end
    return string.format('%.0f', now), new
  end

  -- What loaded returns of a guild that is about to change, with its rev, since, pending and gains.
  function begun()
    if ARGV[2] == '' then return loaded('rev', 'since', 'pending', 'gains') end
    local found, rev, since, pending, known, a, b, c, d = loaded('rev', 'since', 'pending', 'gains', unpack(SUMS))
    sums = {a or '0', b or '0', c or '0', d or '0'}
    return found, rev, since, pending, known
  end

  -- Begins to count for a guild; known is 'gains' of its meta.
  function opened(known)
    day, counted = nil, {}
    if ARGV[2] == '' then return end
    local from, to, yesterday, today, tomorrow = match(ARGV[2], '^(%d+) (%d+)|([^|]+)|([^|]+)|([^|]+)$')
    local wanted = now() < tonumber(from) and yesterday or now() < tonumber(to) and today or tomorrow
    local periods
    if wanted == known then
      periods = {match(wanted, five)}
      day = periods[1]
    else
      day, periods = turned(known, wanted)
    end
    for i = 2, 5 do
      if periods[i] ~= '-' then counted[#counted + 1] = i - 1 end
    end
  end

  -- Other days, newest first, without those that no zone can come back to, unless they may not be archived yet.
  local function reordered(member, gains, gain)
    local newest, days, all, left = tonumber(day), {}, {}, {}
    for d, sum in string.gmatch(gains, '(%d+):(%-?%d+)') do
      days[#days + 1], all[d] = tonumber(d), tonumber(sum)
      newest = math.max(newest, days[#days])
    end
    if not all[day] then days[#days + 1] = tonumber(day) end
    all[day] = (all[day] or 0) + gain
    table.sort(days, function(a, b) return a > b end)
    local waits = redis.call('ZMSCORE', KEYS[4], member)[1]
    for i = 1, #days do
      local d = string.format('%.0f', days[i])
      if waits or days[i] >= newest - 2 then left[#left + 1] = d .. ':' .. all[d] end
    end
    return (waits and match(gains, '^;!') or ';') .. table.concat(left, ',')
  end

  -- The gains of an entry (";20782:350,20781:-20", with "!" after the ";" when other days in the archive are of an entry before), once the member
  -- has gained more.
  function earned(member, gains, gain)
    if not day or gain == 0 then return gains end
    local before, latest, sum, rest = match(gains, '^(;!?)(%d+):(%-?%d+)(.*)$')
    if latest == day then return before .. latest .. ':' .. (sum + gain) .. rest end
    return reordered(member, gains, gain)
  end

  -- The sums, for note to set. A set that was just turned has none yet.
  local function summed()
    if not day then return end
    return {SUMS[1], sums[1], SUMS[2], sums[2], SUMS[3], sums[3], SUMS[4], sums[4]}
  end

  -- Adds what members[1] to members[n] gained to the sorted sets, and returns the sums.
  function tallied(members, gains, n)
    for at = 1, #counted do
      local place, sum = counted[at], 0
      for i = 1, n do
        local gain = gains[i]
        if gain ~= 0 then
          local after = redis.call('ZINCRBY', KEYS[5 + place], gain, members[i])
          after = tonumber(after) or score(after)
          local before = after - gain
          sum = sum + (after > 0 and after or 0) - (before > 0 and before or 0)
        end
      end
      if sum ~= 0 then sums[place] = string.format('%.0f', tonumber(sums[place]) + sum) end
    end
    return summed()
  end

  -- Takes a member out of the running periods, and returns the sums. Without a calendar they are not named: they are added up anew when they
  -- are counted again.
  function ungained(member, known)
    if ARGV[2] == '' then
      local last = known and match(known, '^%d+')
      return last and {'gains', last .. ' - - - -'}
    end
    for place = 1, 4 do
      local gained = redis.call('ZMSCORE', KEYS[5 + place], member)[1]
      if gained then
        redis.call('ZREM', KEYS[5 + place], member)
        gained = tonumber(gained) or score(gained)
        if gained > 0 then sums[place] = string.format('%.0f', tonumber(sums[place]) - gained) end
      end
    end
    return summed()
  end
end

-- The gains of a new entry: when the member waits for a snapshot there was an entry before, and what the archive has of it may be there yet.
local function born(member) return redis.call('ZMSCORE', KEYS[4], member)[1] and ';!' or '' end
