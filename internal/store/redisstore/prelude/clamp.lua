-- XP within 0 and the highest there is.
local function clamp(xp) return math.max(0, math.min(xp, MAX_XP)) end
