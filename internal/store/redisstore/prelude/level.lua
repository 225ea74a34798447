-- Finds changes of level by the curve that the caller sends: '' (log no change), 'any' (log each change of XP), or the highest level that
-- a member can reach, the error of a value computed below, and five coefficients. It may report a change that is none, and never misses
-- one; readers of the log filter with exact arithmetic (sieve.go).

-- Returns about the XP at which level n begins. c is what read_curve returns.
local function value(c, n) return (((c[7] * n + c[6]) * n + c[5]) * n + c[4]) * n + c[3] end

local function read_curve(text)
  if text == '' or text == 'any' then return text end
  local top, slack, c0, c1, c2, c3, c4 = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return {top + 0, slack + 0, c0 + 0, c1 + 0, c2 + 0, c3 + 0, c4 + 0}
end

-- Reports whether a level may begin between two amounts of XP.
local function leveled(curve, before, after)
  if curve == '' or before == after then return false end
  if curve == 'any' then return true end
  local top, slack = curve[1], curve[2]
  local least, most = math.min(before, after) + 0.5 - slack, math.max(before, after) + 0.5 + slack
  local low, high = 1, top + 1 -- the lowest level whose value is at least `least` is from low to high
  while low < high do
    local middle = math.floor((low + high) / 2)
    if value(curve, middle) >= least then high = middle else low = middle + 1 end
  end
  return low <= top and value(curve, low) < most
end
