-- What scripts that change members have in common to count gains, by day in a member's entry and on the boards of running periods; after now.lua.
--
-- A day is a number (days since 1970-01-01). The caller names the boards of yesterday, today and tomorrow in the guild's zone, and the clock of the
-- server chooses: so all changes around midnight fall on one side of it, whichever replica they came through.
--
-- The boards of the day, the week, the month and the season are sorted sets of what members gained. 'boards' of meta has the newest day that
-- anything was counted on, and the days of each ("20784 20784-20785 20780-20787 - -"); or "-" when the boards lack something and have to be loaded
-- with the guild. It is not there while nothing was ever counted. 'gained:day' and so on are the sums of all gains above 0 of members that are
-- present. Who is not present stands on the boards all the same, far below 0: the gain less AWAY.
--
-- KEYS[1] meta, KEYS[4] dirty, KEYS[6] to KEYS[9] the boards, when ARGV[2] is not ''; ARGV[2] when today and tomorrow begin in ms, and the boards of the
-- three days: 'ms ms <boards>|<boards>|<boards>'.
local AWAY = 2 ^ 52
local SUMS = {'gained:day', 'gained:week', 'gained:month', 'gained:season'}
local opened, earned, born, noted, parted, moved
do
  local match, day, kept = string.match, nil, {}

  -- Makes the boards those of a day. One of a later period than the day's stays: the clock or the zone went back. A period that begins with a day that was
  -- counted before has a board that lacks it: the calendar has changed.
  local function turned(boards, wanted)
    local has, wants = {}, {}
    for word in string.gmatch(boards, '%S+') do has[#has + 1] = word end
    for word in string.gmatch(wanted, '%S+') do wants[#wants + 1] = word end
    for i = 2, 5 do
      local first, begins = tonumber((string.gsub(has[i], '%-.*', ''))), tonumber((string.gsub(wants[i], '%-.*', '')))
      if has[i] ~= wants[i] and not (first and first > tonumber(day)) then
        if begins and begins <= tonumber(has[1]) then
          redis.call('UNLINK', KEYS[6], KEYS[7], KEYS[8], KEYS[9])
          return '-'
        end
        redis.call('UNLINK', KEYS[4 + i])
        redis.call('HDEL', KEYS[1], SUMS[i - 1])
        has[i] = wants[i]
      end
    end
    has[1] = string.format('%.0f', math.max(tonumber(has[1]), tonumber(day)))
    return table.concat(has, ' ')
  end

  -- Begins to count for a guild, whose meta has these boards.
  function opened(boards)
    day, kept = nil, {}
    if ARGV[2] == '' then return end
    local from, to, yesterday, today, tomorrow = match(ARGV[2], '^(%d+) (%d+) ([^|]+)|([^|]+)|([^|]+)$')
    local wanted = now() < tonumber(from) and yesterday or now() < tonumber(to) and today or tomorrow
    day = match(wanted, '^%d+')
    if boards ~= wanted and boards ~= '-' then
      boards = boards and turned(boards, wanted) or wanted
      redis.call('HSET', KEYS[1], 'boards', boards)
    end
    local place = 0
    for first, last in string.gmatch(boards, ' (%d*)%-(%d*)') do
      place = place + 1
      if first ~= '' then kept[#kept + 1] = {place, tonumber(first), tonumber(last)} end
    end
  end

  -- The gains of an entry when its first day is another one: newest first, without those that no zone can come back to, unless they may not be
  -- archived yet. What is archived of a day that a clock was set back to is not known here, so it counts for the last one that is,
  -- which is returned as well.
  local function reordered(member, gains, gain)
    local newest, days, all, left = tonumber(day), {}, {}, {}
    for d, sum in string.gmatch(gains, '(%d+):(%-?%d+)') do
      days[#days + 1], all[tonumber(d)] = tonumber(d), tonumber(sum)
      newest = math.max(newest, days[#days])
    end
    local counted = math.max(tonumber(day), newest - 2)
    if not all[counted] then days[#days + 1] = counted end
    all[counted] = (all[counted] or 0) + gain
    table.sort(days, function(a, b) return a > b end)
    local waits = (days[#days] < newest - 2 or match(gains, '^;!')) and redis.call('ZMSCORE', KEYS[4], member)[1]
    for i = 1, #days do
      if waits or days[i] >= newest - 2 then left[#left + 1] = string.format('%.0f:%.0f', days[i], all[days[i]]) end
    end
    return (waits and match(gains, '^;!') or ';') .. table.concat(left, ','), counted
  end

  -- The gains of an entry (";20782:350,20781:-20", with "!" after the ";" when other days in the archive are of an entry before), once the member
  -- has gained more; and the day that it counts for.
  function earned(member, gains, gain)
    if not day or gain == 0 then return gains, day end
    if gains == '' then return ';' .. day .. ':' .. gain, day end
    local before, latest, sum, rest = match(gains, '^(;!?)(%d+):(%-?%d+)(.*)$')
    if latest == day then return before .. latest .. ':' .. string.format('%.0f', sum + gain) .. rest, day end
    return reordered(member, gains, gain)
  end

  -- The gains of a new entry: when the member waits for a snapshot there was an entry before, and what the archive has of it may be there yet.
  -- Where nothing was ever counted it has none. boards is as for opened.
  function born(member, boards) return boards and redis.call('ZMSCORE', KEYS[4], member)[1] and ';!' or '' end

  -- Adds to the sum of a board what a member's part in it changed by.
  local function summed(place, before, after)
    local changed = math.max(after, 0) - math.max(before, 0)
    if changed ~= 0 then redis.call('HINCRBY', KEYS[1], SUMS[place], string.format('%.0f', changed)) end
  end

  -- Puts what a member gained on a day onto the boards.
  function noted(member, on, gain)
    if not on or gain == 0 then return end
    on = tonumber(on)
    for i = 1, #kept do
      local place, first, last = unpack(kept[i])
      if on >= first and on < last then
        local after = tonumber(redis.call('ZINCRBY', KEYS[5 + place], string.format('%.0f', gain), member))
        summed(place, after - gain, after)
      end
    end
  end

  -- What a member has on the board at a place, or nil.
  local function seat(place, member)
    local was = redis.call('ZMSCORE', KEYS[5 + place], member)[1]
    return was and tonumber(was)
  end

  -- How many boards there may be. Without a calendar they are not named: then they have to be loaded again.
  local function seats(boards)
    if not boards or boards == '-' then return 0 end
    if ARGV[2] ~= '' then return 4 end
    redis.call('HSET', KEYS[1], 'boards', '-')
    return 0
  end

  -- Takes a member whose entry was deleted off the boards. boards is as for opened.
  function parted(member, boards)
    for place = 1, seats(boards) do
      local was = seat(place, member)
      if was then
        redis.call('ZREM', KEYS[5 + place], member)
        summed(place, was, 0)
      end
    end
  end

  -- Notes on the boards that a member is present again, or is not any more. boards is as for opened.
  function moved(member, back, boards)
    for place = 1, seats(boards) do
      local was = seat(place, member)
      if was and (was < -AWAY / 2) == back then
        local is = back and was + AWAY or was - AWAY
        redis.call('ZADD', KEYS[5 + place], string.format('%.0f', is), member)
        summed(place, was, is)
      end
    end
  end
end
