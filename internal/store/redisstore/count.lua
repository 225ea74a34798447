-- Adds up what members gained in a period: what the archive has of all days but those that are in their entries, and those. A member whose
-- entry has other days by now is left as it is: the archive has to be asked again.
--
-- KEYS     meta xp entry, the gains of the period's kind
-- ARGV     incarnation, which kind it is and the period's days as in period.lua, the first of them and the one after the last, n members
--          (at most 250, each once), for each the days that were left out ("20782,20781", with "!" before it when other days do not count,
--          or "?": none were asked for), for each the sum
-- returns  {member, the days of its entry, ... of each that was left as it is} | NOTLOADED | NOTCOUNTED: it is not being added up any more
-- atomic   all of it
local found, gains, sum = loaded('gains', SUMS[tonumber(ARGV[2])])
if not found then return 'NOTLOADED' end
local holds = holds(gains, tonumber(ARGV[2]), ARGV[3])
if holds == true then return {} end
if holds ~= '?' then return 'NOTCOUNTED' end
local first, last, n = tonumber(ARGV[4]), tonumber(ARGV[5]), (#ARGV - 5) / 3
local members = {unpack(ARGV, 6, 5 + n)}
local xp, entry = entries(2, members, 1)
local again, above = {}, 0
for i = 1, n do
  if xp[i] then
    local fresh, text = string.match(entry[i] or '', '^%d+ %d+ %d+;(!?)([^ ]*)')
    local days, all = {}, tonumber(ARGV[5 + 2 * n + i])
    for day, gain in string.gmatch(text or '', '(%d+):(%-?%d+)') do
      days[#days + 1] = day
      if tonumber(day) >= first and tonumber(day) < last then all = all + tonumber(gain) end
    end
    local listed = (fresh or '') .. table.concat(days, ',')
    if listed ~= ARGV[5 + n + i] then
      again[#again + 1], again[#again + 2] = members[i], listed
    else
      local before = redis.call('ZMSCORE', KEYS[4], members[i])[1]
      before = before and (tonumber(before) or score(before)) or 0
      redis.call('ZADD', KEYS[4], all, members[i])
      above = above + math.max(all, 0) - math.max(before, 0)
    end
  end
end
if above ~= 0 then redis.call('HSET', KEYS[1], SUMS[tonumber(ARGV[2])], string.format('%.0f', tonumber(sum or 0) + above)) end
return again
