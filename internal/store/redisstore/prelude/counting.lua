-- What scripts that change members have in common to count gains; after now.lua.
--
-- A member's entry has what it gained on each day. A day is a number (days since 1970-01-01). The caller names yesterday, today and tomorrow in the
-- guild's zone, and the clock of the server chooses: so all changes around midnight fall on one side of it, whichever replica they came through.
--
-- Boards of periods are made of that when they are read (settle.lua, count.lua). 'gains' of meta says which are kept; while one is, what changes
-- is noted in a hash: "20782:<member>" -> what it gained since, "d:<member>" -> it was deleted, before all that it gained since, "p:<member>" -> 1
-- when it is present again, after all that it gained, 0 when it is not present any more. A day of a note is in the entry of its member. When nobody
-- reads the boards, the notes would grow, and their days would have to stay in the entries: then none is kept any more.
--
-- KEYS[1] meta, KEYS[4] dirty, KEYS[6] the notes, when ARGV[2] is not ''; ARGV[2] when today and tomorrow begin in ms, and the days:
-- 'ms ms yesterday today tomorrow'.
local MOST_NOTES = 50000
local opened, earned, born, noted, unread, parted, moved
do
  local match, day, kept = string.match, nil, nil

  -- Keeps no board any more: whoever reads one has it made.
  local function dropboards()
    redis.call('UNLINK', KEYS[6])
    redis.call('HSET', KEYS[6], '', '')
    redis.call('HSET', KEYS[1], 'gains', NOTHING_KEPT)
    kept = false
  end

  -- Begins to count for a guild; known is 'gains' of its meta, which is there, like the notes, once anything was counted.
  function opened(known)
    day = nil
    if ARGV[2] == '' then return end
    local from, to, yesterday, today, tomorrow = match(ARGV[2], '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
    day = now() < tonumber(from) and yesterday or now() < tonumber(to) and today or tomorrow
    kept = known and known ~= NOTHING_KEPT
    if not known then dropboards() end
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
      if waits or days[i] >= newest - 2 then
        left[#left + 1] = string.format('%.0f:%.0f', days[i], all[days[i]])
      elseif kept and redis.call('HGET', KEYS[6], string.format('%.0f:', days[i]) .. member) then
        dropboards() -- nobody has read them since that day
      end
    end
    return (waits and match(gains, '^;!') or ';') .. table.concat(left, ','), string.format('%.0f', counted)
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
  -- Where nothing was ever counted it has none, and a version that does not know gains can read the entry. known is as for opened.
  function born(member, known) return known and redis.call('ZMSCORE', KEYS[4], member)[1] and ';!' or '' end

  -- Notes for the boards what a member gained on a day.
  function noted(member, on, gain)
    if not on or not kept or gain == 0 then return end
    redis.call('HINCRBY', KEYS[6], on .. ':' .. member, string.format('%.0f', gain))
  end

  -- Looks now and then, about once in a hundred changes, whether boards are still read.
  function unread(rev, changes)
    if not day or not kept or tonumber(rev) % 100 + changes < 100 then return end
    if redis.call('HLEN', KEYS[6]) > MOST_NOTES then dropboards() end
  end

  -- Notes for the boards that an entry, with its gains, was deleted. Without a calendar the notes are not named, and no board is kept.
  function parted(member, gains, known)
    if ARGV[2] == '' then
      if known and known ~= NOTHING_KEPT then redis.call('HSET', KEYS[1], 'gains', NOTHING_KEPT) end
    elseif kept and not gains then
      dropboards() -- the days of a damaged entry are not known
    elseif kept then
      for d in string.gmatch(gains, '(%d+):') do redis.call('HDEL', KEYS[6], d .. ':' .. member) end
      redis.call('HDEL', KEYS[6], 'p:' .. member)
      redis.call('HSET', KEYS[6], 'd:' .. member, 1)
    end
  end

  -- Notes for the boards that a member is present again, or is not any more.
  function moved(member, back, known)
    if ARGV[2] == '' then
      if known and known ~= NOTHING_KEPT then redis.call('HSET', KEYS[1], 'gains', NOTHING_KEPT) end
    elseif kept then
      redis.call('HSET', KEYS[6], 'p:' .. member, back and 1 or 0)
    end
  end
end
