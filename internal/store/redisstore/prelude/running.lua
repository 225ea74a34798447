-- Says whether the board of a running period is there ('boards' of meta, see counting.lua): true; false while nothing was counted in the period; nil when
-- it is not there, and the guild has to be loaded with it. place is 1 for the day to 4 for the season, days are the period's, "20780-20787".
local function running(boards, place, days)
  if not boards then return false end
  local newest, has = string.match(boards, '^%d+'), {string.match(boards, '^%d+ (%S+) (%S+) (%S+) (%S+)$')}
  if has[place] == days then return true end
  if newest and tonumber(string.match(days, '^%d+')) > tonumber(newest) then return false end
end
