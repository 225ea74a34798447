-- Finds changes of level by the curve that the caller sends: '' (log no change), 'any' (log each change of XP), or a JSON array: the
-- highest level that a member can reach, the error of a value computed below, and five coefficients. It may report a change that is none,
-- and never misses one; readers of the log filter with exact arithmetic (sieve.go).
local function read_curve(text) return (text == '' or text == 'any') and text or cjson.decode(text) end

-- Reports whether a level may begin between two amounts of XP. curve is what read_curve returns.
local function leveled(curve, before, after)
  if curve == '' or before == after then return false end
  if curve == 'any' then return true end
  local top, slack, c0, c1, c2, c3, c4 = unpack(curve)
  local least, most = math.min(before, after) + 0.5 - slack, math.max(before, after) + 0.5 + slack
  local low, high, first = 1, top + 1, nil -- the lowest level that begins at `least` or above is from low to high, and begins at `first`
  while low < high do
    local middle = math.floor((low + high) / 2)
    local begins = (((c4 * middle + c3) * middle + c2) * middle + c1) * middle + c0
    if begins >= least then high, first = middle, begins else low = middle + 1 end
  end
  return first ~= nil and first < most
end
