-- Limits XP to 0..MAX_XP.
local function clamp(xp) return math.max(0, math.min(xp, MAX_XP)) end
