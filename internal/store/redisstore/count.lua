-- Counts what members gained in a period whose board is being made: what the archive has of all days but those that are in their entries, and
-- those. A member whose entry has other days by now is left as it is: the archive has to be asked again.
--
-- KEYS     meta xp entry, gains of the day, week, month and season, notes
-- ARGV     incarnation, which of the four it is and the period's days as in settle.lua, the first of them and the one after the last, n members
--          (at most 250, each once), for each the days that were left out ("20782,20781", with "!" before it when other days do not count,
--          or "?": none were asked for), for each the sum
-- returns  {member, the days of its entry, ... of each that was left as it is} | NOTLOADED | NOTCOUNTED: it is not being made any more
-- atomic   all of it
local place = tonumber(ARGV[2])
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
local keeps = keeps(gains, place, ARGV[3])
if keeps == true then return {} end
if not keeps then return 'NOTCOUNTED' end
local first, last, n = tonumber(ARGV[4]), tonumber(ARGV[5]), (#ARGV - 5) / 3
local members = {unpack(ARGV, 6, 5 + n)}
local xp, entry = entries(2, members, 1)
local again, sums, gone, counted, fields = {}, {}, {}, {}, {}
for i = 1, n do
  local away, rest = absent(entry[i])
  local there = xp[i] or away
  local fresh, text = string.match(rest or entry[i] or '', '^%d+ %d+ %d+;(!?)([^ ]*)')
  local days, sum = {}, tonumber(ARGV[5 + 2 * n + i])
  for day, gain in string.gmatch(text or '', '(%d+):(%-?%d+)') do
    days[#days + 1] = day
    if tonumber(day) >= first and tonumber(day) < last then sum = sum + tonumber(gain) end
  end
  local listed = (fresh or '') .. table.concat(days, ',')
  if there and listed ~= ARGV[5 + n + i] then
    again[#again + 1], again[#again + 2] = members[i], listed
  elseif there then
    counted[#counted + 1], sums[#sums + 1], gone[#gone + 1] = members[i], sum, away ~= nil
    fields[#fields + 1] = 'd:' .. members[i]
    fields[#fields + 1] = 'p:' .. members[i]
    for j = 1, #days do fields[#fields + 1] = days[j] .. ':' .. members[i] end
  end
end
-- Their notes are in the entries as well: they are taken into the other boards, and then this one has the sum.
local notes, values = {}, values('HMGET', KEYS[8], fields, 1)
for i = 1, #fields do
  if values[i] then notes[#notes + 1], notes[#notes + 2] = fields[i], values[i] end
end
settle(gains, 4, notes)
local set, all = KEYS[3 + place], tonumber(redis.call('HGET', KEYS[1], SUMS[place]))
for i = 1, #counted do
  all = all - counts(standing(redis.call('ZMSCORE', set, counted[i])[1])) + counts(sums[i], gone[i])
  seat(set, counted[i], sums[i], gone[i])
end
redis.call('HSET', KEYS[1], SUMS[place], string.format('%.0f', all))
return again
