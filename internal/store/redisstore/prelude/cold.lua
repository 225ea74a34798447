-- Says whether nobody has noted a use of a loaded guild for so many ms, and nothing of it waits to be archived or is under way, by what
-- its meta says.
-- KEYS[1] meta, KEYS[2] lock, KEYS[3] dirty, KEYS[4] journal; after now.lua.
local function cold(idle, rev, archived, pending, used)
  if now() - tonumber(used or 0) < idle then return false end
  if rev ~= archived then return false end
  if pending and tonumber(pending) > tonumber(archived) then return false end -- one that is not is of a writer that died
  if redis.call('EXISTS', KEYS[2]) > 0 or redis.call('ZCARD', KEYS[3]) > 0 or redis.call('XLEN', KEYS[4]) > 0 then return false end
  return true
end
