-- Says whether this incarnation of the guild is loaded and verified, as in loaded.lua, or frozen, and of this epoch, so that what was loaded again
-- since is not touched: a script of the snapshot writer that belongs to one epoch asks this first. Of meta, which is read in one
-- command, the rest is left for what follows.
-- KEYS[1] meta; ARGV[1] incarnation, ARGV[2] epoch.
local rev, archived, pending
local function current()
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending')
  rev, archived, pending = meta[4], meta[5], meta[6]
  return meta[1] == ARGV[1] and (meta[2] == SERVER or meta[2] == FROZEN) and meta[3] == ARGV[2]
end
