-- The XP of a member that is not present, and the rest of its entry, which is as others are; nothing of one that is present. Who is not
-- present has no score: the XP is in the entry ("-350 12 1700000000000 0").
local function absent(entry)
  if not entry or string.byte(entry) ~= 45 then return end -- "-"
  local _, _, xp, rest = string.find(entry, '^%-(%d+) (.*)$')
  return xp, rest
end
