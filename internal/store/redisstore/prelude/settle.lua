-- Boards of running periods, from what is noted of changes (counting.lua).
--
-- 'gains' of meta has for the day, the week, the month and the season which period's board its sorted set is, by the first day and the one after
-- the last ("20776-20783"); with a "?" behind it while it is being made (count.lua); or "-" when none is kept. 'gained:day' and so on are the
-- sums of all gains above 0 of members that are present. Who is not present stands in the sets all the same, far below 0: its gains less AWAY.
local SUMS = {'gained:day', 'gained:week', 'gained:month', 'gained:season'}
local AWAY = 2 ^ 52
local FOUR = '^(%S+) (%S+) (%S+) (%S+)$'

-- Which of the four a board is kept of: true, "?" while it is made, or nil.
local function keeps(gains, place, range)
  local has = ({string.match(gains or '', FOUR)})[place]
  return has == range or has == range .. '?' and '?' or nil
end

-- Returns what a member of a board gained, and whether it is not present, by its score or nil.
local function standing(was)
  local sum = was and was + 0 or 0
  if sum < -AWAY / 2 then return sum + AWAY, true end
  return sum, false
end

-- Puts a sum into a board. A sum of 0 needs no seat: who is not present and gains comes with a note that says so.
local function seat(key, member, sum, away)
  if sum == 0 then
    redis.call('ZREM', key, member)
  else
    redis.call('ZADD', key, string.format('%.0f', away and sum - AWAY or sum), member)
  end
end

-- What of a sum counts for the board.
local function counts(sum, away) return away and 0 or math.max(sum, 0) end

-- Takes notes, {field, value, ...}, into the sorted sets and off the notes.
-- KEYS[1] meta; sets are where the four sorted sets and the notes are in KEYS.
local function settle(gains, sets, notes)
  if #notes == 0 then return end
  local deleted, earned, moves, fields = {}, {}, {}, {}
  for i = 1, #notes, 2 do
    local day, member = string.match(notes[i], '^(%w+):(.+)$')
    if day == 'd' then
      deleted[#deleted + 1] = member
    elseif day == 'p' then
      moves[#moves + 1] = {member, notes[i + 1] == '0'}
    elseif day then
      earned[#earned + 1] = {member, tonumber(day), tonumber(notes[i + 1])}
    end
    if day then fields[#fields + 1] = notes[i] end
  end
  local ranges = {string.match(gains, FOUR)}
  for place = 1, 4 do
    local first, last = string.match(ranges[place], '^(%d+)-(%d+)')
    if first then
      local key, sum = KEYS[sets + place - 1], tonumber(redis.call('HGET', KEYS[1], SUMS[place]) or 0)
      local members, after, away = {}, {}, {}
      for i = 1, #deleted do
        local was = redis.call('ZMSCORE', key, deleted[i])[1]
        if was then
          redis.call('ZREM', key, deleted[i])
          sum = sum - counts(standing(was))
        end
      end
      local function read(member)
        local was = redis.call('ZMSCORE', key, member)[1]
        members[#members + 1] = member
        after[member], away[member] = standing(was)
        sum = sum - counts(after[member], away[member])
      end
      for i = 1, #earned do
        local member, day, gain = unpack(earned[i])
        if day >= tonumber(first) and day < tonumber(last) then
          if not after[member] then read(member) end
          after[member] = after[member] + gain
        end
      end
      for i = 1, #moves do
        local member, gone = unpack(moves[i])
        if not after[member] then read(member) end
        away[member] = gone
      end
      for i = 1, #members do
        local member = members[i]
        seat(key, member, after[member], away[member])
        sum = sum + counts(after[member], away[member])
      end
      redis.call('HSET', KEYS[1], SUMS[place], string.format('%.0f', sum))
    end
  end
  if #fields > 0 then redis.call('HDEL', KEYS[sets + 4], unpack(fields)) end
end
