local SUMS = {'gained:day', 'gained:week', 'gained:month', 'gained:season'} -- fields of meta (counting.lua)

-- What the sorted set of a period holds (counting.lua): true when it is all that the members gained in it, "?" while that is being added up, "" when
-- nothing was gained in it yet, nil when it holds something else.
-- gains is what meta has; place says which of the four it is, from 1, and range is the period's first day and the one after its last.
local function holds(gains, place, range)
  if not gains then return '' end
  local words = {string.match(gains, '^(%d+) (%S+) (%S+) (%S+) (%S+)$')}
  local has = words[1 + place]
  if has == range then return true end
  if has == range .. '?' then return '?' end
  if tonumber(words[1]) < tonumber(string.match(range, '^%d+')) then return '' end
end
