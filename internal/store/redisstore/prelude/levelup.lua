-- Puts a level-up into the guild's log of events, by the curve that the caller sent: "", and nothing is noted; or "any", and
-- whatever gained XP is; or the highest level that anybody can reach, how far off a value below may be, and 5 coefficients,
-- with a space between. No level-up is missed; one that is none may be noted, and whoever reads the log has exact
-- arithmetic to see it.
-- KEYS[5] events; ARGV[2].
local levelup
do
  local args, known, top, slack, c0, c1, c2, c3, c4, highest
  local sqrt, floor, ceil, tonumber = math.sqrt, math.floor, math.ceil, tonumber

  local function value(n) return (((c4 * n + c3) * n + c2) * n + c1) * n + c0 end

  local function read()
    args = ARGV
    local text = ARGV[2]
    if text == known then return end
    known, top, slack = text, 0, 0
    if text == '' then return end
    if text == 'any' then
      top = nil
      return
    end
    local _
    _, _, top, slack, c0, c1, c2, c3, c4 = string.find(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    top, slack, c0, c1, c2, c3, c4 = tonumber(top), tonumber(slack), tonumber(c0), tonumber(c1), tonumber(c2), tonumber(c3), tonumber(c4)
    highest = value(top)
  end

  -- About where the value is v: for a parabola that is its root, and for others Newton's method finds it in two or three
  -- steps from where it would be if there were only the highest term.
  local function about(v)
    if c4 == 0 and c3 == 0 and c2 ~= 0 then
      local square = c1 * c1 - 4 * c2 * (c0 - v)
      if square < 0 then return 1 end
      return (sqrt(square) - c1) / (2 * c2)
    end
    local x = top * (v / highest) ^ (1 / (c4 ~= 0 and 4 or c3 ~= 0 and 3 or 1))
    for _ = 1, 6 do
      local step = (value(x) - v) / (((4 * c4 * x + 3 * c3) * x + 2 * c2) * x + c1)
      x = x - step
      if step < 0.01 and step > -0.01 then break end
    end
    return x
  end

  -- The lowest level whose value is at least v, or top + 1. Whatever the guess is, it is looked at, and else there is the
  -- long way.
  local function lowest(v)
    if top == 0 or highest < v then return top + 1 end
    local n = ceil(about(v))
    if n >= 1 and n <= top and value(n) >= v and (n == 1 or value(n - 1) < v) then return n end
    local low, high = 1, top
    while low < high do
      local middle = floor((low + high) / 2)
      if value(middle) >= v then high = middle else low = middle + 1 end
    end
    return low
  end

  function levelup(member, before, after)
    if after <= before then return end
    if ARGV ~= args then read() end
    if top then
      -- A level begins above before and not above after when its value is at least before + 0.5 and below after + 0.5.
      local n = lowest(before + 0.5 - slack)
      if n > top or value(n) >= after + 0.5 + slack then return end
    end
    event(KEYS[5], 'u', member, 'b', before, 'a', after)
  end
end
