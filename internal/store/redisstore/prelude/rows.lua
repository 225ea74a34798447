-- Reads members for the archive. Returns two lists with nil for what is missing: XP, on the board or off it, and entries. Needs values.lua.
local function rows(xp_key, off_key, entry_key, members)
  local xp, off = values('ZMSCORE', xp_key, members), values('ZMSCORE', off_key, members)
  for i = 1, #members do xp[i] = xp[i] or off[i] end
  return xp, values('HMGET', entry_key, members)
end
