-- Counts gains by day in a member's entry ('20782:350,20781:-20', newest first) and on the boards of the running day, week, month and
-- season (boards.lua). A day is a number of days since 1970-01-01. `days` holds when today and tomorrow begin in ms, and the boards of
-- yesterday, today and tomorrow in the guild's zone ('ms ms <boards>|<boards>|<boards>'). The server's clock chooses among them, so
-- replicas whose clocks differ agree about midnight. Without a calendar (days is '') nothing is counted, and these functions are not
-- even created, which saves time.
local open_boards, earned, count_gain
if days ~= '' then
  local today, open -- the current day, and the open boards: {{place, first day, the day after the last}, ...}

  -- Replaces boards of ended periods by those of today, and returns meta's new 'boards'. A board of a later period stays, since the
  -- clock or the zone went back. If a new period begins on a day already counted, the calendar has changed: its board would lack that
  -- day, so '-'.
  local function turn_boards(wanted)
    local has, wants = {}, {}
    for word in string.gmatch(boards, '%S+') do has[#has + 1] = word end
    for word in string.gmatch(wanted, '%S+') do wants[#wants + 1] = word end
    for place = 1, 4 do
      local first = tonumber(string.match(has[1 + place], '^%d+') or '')
      local begins = tonumber(string.match(wants[1 + place], '^%d+') or '')
      if has[1 + place] ~= wants[1 + place] and not (first and first > today) then
        if begins and begins <= has[1] + 0 then
          redis.call('UNLINK', unpack(KEYS, 10, 13))
          return '-'
        end
        redis.call('UNLINK', KEYS[9 + place])
        redis.call('HDEL', meta_key, 'gained:' .. place)
        has[1 + place] = wants[1 + place]
      end
    end
    has[1] = math.max(has[1], today)
    return table.concat(has, ' ')
  end

  -- Sets today and open.
  open_boards = function()
    local from, to, yesterday, this_day, tomorrow = string.match(days, '^(%d+) (%d+) ([^|]+)|([^|]+)|([^|]+)$')
    local wanted = time < from + 0 and yesterday or time < to + 0 and this_day or tomorrow
    today = tonumber(string.match(wanted, '^%d+'))
    if boards ~= wanted and boards ~= '-' then
      boards = boards and turn_boards(wanted) or wanted
      redis.call('HSET', meta_key, 'boards', boards)
    end
    local place = 0
    open = {}
    for first, last in string.gmatch(boards, ' (%d*)%-(%d*)') do
      place = place + 1
      if first ~= '' then open[#open + 1] = {place, first + 0, last + 0} end
    end
  end

  -- Adds a gain to those of an entry, and returns them with the day that it counts for. A day more than two before the newest leaves the
  -- entry once it is archived. A clock set back further would need its archived gains, which are not here, so the gain then counts for the
  -- oldest day that stays.
  earned = function(member, gains, gain)
    if gain == 0 then return gains, today end
    if gains == '' then return today .. ':' .. gain, today end
    local unarchived, latest, sum, rest = string.match(gains, '^(!?)(%d+):(%-?%d+)(.*)$')
    if latest and latest + 0 == today then return unarchived .. today .. ':' .. sum + gain .. rest, today end

    local newest, listed, sums, left = today, {}, {}, {}
    for text, gained in string.gmatch(gains, '(%d+):(%-?%d+)') do
      listed[#listed + 1], sums[text + 0] = text + 0, gained + 0
      newest = math.max(newest, text + 0)
    end
    local counted = math.max(today, newest - 2)
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

  -- Adds a member's gain on a day to the open boards.
  count_gain = function(member, day, gain)
    if gain == 0 then return end
    for i = 1, #open do
      local place, first, last = unpack(open[i])
      if day >= first and day < last then add_to_board(place, member, gain) end
    end
  end
end
