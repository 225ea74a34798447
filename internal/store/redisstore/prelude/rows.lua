-- Reads members for the archive: XP of those who are present, XP of those who are not, and entries, three lists with nil where there is
-- none; after values.lua.
local function rows(xp_key, off_key, entry_key, members)
  return values('ZMSCORE', xp_key, members), values('ZMSCORE', off_key, members), values('HMGET', entry_key, members)
end
