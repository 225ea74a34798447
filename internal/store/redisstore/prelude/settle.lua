-- Boards of running periods, from what is noted of changes (counting.lua); after score.lua.
--
-- 'gains' of meta has for the day, the week, the month and the season which period's board its sorted set is, by the first day and the one after
-- the last ("20776-20783"); with a "?" behind it while it is being made (count.lua); or "-" when none is kept. 'gained:day' and so on are the
-- sums of all gains above 0.
local SUMS = {'gained:day', 'gained:week', 'gained:month', 'gained:season'}
local FOUR = '^(%S+) (%S+) (%S+) (%S+)$'

-- Which of the four a board is kept of: true, "?" while it is made, or nil.
local function keeps(gains, place, range)
  local has = ({string.match(gains or '', FOUR)})[place]
  return has == range or has == range .. '?' and '?' or nil
end

-- Takes notes, {field, value, ...}, into the sorted sets and off the notes.
-- KEYS[1] meta; sets are where the four sorted sets and the notes are in KEYS.
local function settle(gains, sets, notes)
  if #notes == 0 then return end
  local away, earned, fields = {}, {}, {}
  for i = 1, #notes, 2 do
    local day, member = string.match(notes[i], '^(%w+):(.+)$')
    if day == 'd' then away[#away + 1] = member elseif day then earned[#earned + 1] = {member, tonumber(day), tonumber(notes[i + 1])} end
    if day then fields[#fields + 1] = notes[i] end
  end
  local ranges = {string.match(gains, FOUR)}
  for place = 1, 4 do
    local first, last = string.match(ranges[place], '^(%d+)-(%d+)')
    if first then
      local key, sum = KEYS[sets + place - 1], tonumber(redis.call('HGET', KEYS[1], SUMS[place]) or 0)
      local members, before, after = {}, {}, {}
      for i = 1, #away do
        local was = redis.call('ZMSCORE', key, away[i])[1]
        if was then
          redis.call('ZREM', key, away[i])
          sum = sum - math.max(tonumber(was) or score(was), 0)
        end
      end
      for i = 1, #earned do
        local member, day, gain = unpack(earned[i])
        if day >= tonumber(first) and day < tonumber(last) then
          if not after[member] then
            members[#members + 1] = member
            local was = redis.call('ZMSCORE', key, member)[1]
            before[member] = was and (tonumber(was) or score(was)) or 0
            after[member] = before[member]
          end
          after[member] = after[member] + gain
        end
      end
      for i = 1, #members do
        redis.call('ZADD', key, after[members[i]], members[i])
        sum = sum + math.max(after[members[i]], 0) - math.max(before[members[i]], 0)
      end
      redis.call('HSET', KEYS[1], SUMS[place], string.format('%.0f', sum))
    end
  end
  if #fields > 0 then redis.call('HDEL', KEYS[sets + 4], unpack(fields)) end
end
