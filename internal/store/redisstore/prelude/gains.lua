-- Gains, by day in a member's entry ('20782:350,20781:-20', newest first) and on the boards of the running day, week, month and season.
-- A day is a number, days since 1970-01-01. The caller names the boards of yesterday, today and tomorrow in the guild's zone, and the
-- server's clock chooses: so all changes around midnight fall on one side of it, whichever replica they came through.

-- Makes the boards that meta names those of a day. One of a later period than the day's stays: the clock or the zone went back. A
-- period that begins with a day that was counted before has a board that lacks it: the calendar has changed, and the guild has to be
-- loaded again ('-').
local function turn_boards(meta_key, boards, day, wanted)
  local has, wants = {}, {}
  for word in string.gmatch(boards, '%S+') do has[#has + 1] = word end
  for word in string.gmatch(wanted, '%S+') do wants[#wants + 1] = word end
  for place = 1, 4 do
    local first = tonumber(string.match(has[1 + place], '^%d+') or '')
    local begins = tonumber(string.match(wants[1 + place], '^%d+') or '')
    if has[1 + place] ~= wants[1 + place] and not (first and first > day) then
      if begins and begins <= has[1] + 0 then
        redis.call('UNLINK', unpack(KEYS, 9, 12))
        return '-'
      end
      redis.call('UNLINK', KEYS[8 + place])
      redis.call('HDEL', meta_key, SUMS[place])
      has[1 + place] = wants[1 + place]
    end
  end
  has[1] = math.max(has[1], day)
  return table.concat(has, ' ')
end

-- Returns the day that gains count for now, or nothing without a calendar, the boards ({{place, first day, the day after the last},
-- ...}), and what meta says of them now. boards is what it said; days is when today and tomorrow begin in ms, and the boards of the
-- three days: 'ms ms <boards>|<boards>|<boards>'.
local function open_boards(meta_key, boards, days, time)
  if days == '' then return nil, {}, boards end
  local from, to, yesterday, today, tomorrow = string.match(days, '^(%d+) (%d+) ([^|]+)|([^|]+)|([^|]+)$')
  local wanted = time < from + 0 and yesterday or time < to + 0 and today or tomorrow
  local day = tonumber(string.match(wanted, '^%d+'))
  if boards ~= wanted and boards ~= '-' then
    boards = boards and turn_boards(meta_key, boards, day, wanted) or wanted
    redis.call('HSET', meta_key, 'boards', boards)
  end
  local place, open = 0, {}
  for first, last in string.gmatch(boards, ' (%d*)%-(%d*)') do
    place = place + 1
    if first ~= '' then open[#open + 1] = {place, first + 0, last + 0} end
  end
  return day, open, boards
end

-- Returns the gains of an entry after one more, and the day that it counts for. Days that no zone can come back to leave the entry once
-- they are archived. What is archived of a day that a clock was set back to is not known here: then the gain counts for the last day
-- that is.
local function earned(dirty_key, member, gains, day, gain)
  if not day or gain == 0 then return gains, day end
  if gains == '' then return day .. ':' .. gain, day end
  local unarchived, latest, sum, rest = string.match(gains, '^(!?)(%d+):(%-?%d+)(.*)$')
  if latest and latest + 0 == day then return unarchived .. day .. ':' .. sum + gain .. rest, day end

  local newest, listed, sums, left = day, {}, {}, {}
  for text, gained in string.gmatch(gains, '(%d+):(%-?%d+)') do
    listed[#listed + 1], sums[text + 0] = text + 0, gained + 0
    newest = math.max(newest, text + 0)
  end
  local counted = math.max(day, newest - 2)
  if not sums[counted] then listed[#listed + 1] = counted end
  sums[counted] = (sums[counted] or 0) + gain
  table.sort(listed, function(a, b) return a > b end)
  local fresh = string.sub(gains, 1, 1) == '!'
  local waits = (listed[#listed] < newest - 2 or fresh) and redis.call('ZMSCORE', dirty_key, member)[1]
  for i = 1, #listed do
    if waits or listed[i] >= newest - 2 then left[#left + 1] = listed[i] .. ':' .. sums[listed[i]] end
  end
  return (waits and fresh and '!' or '') .. table.concat(left, ','), counted
end
