-- Whether this incarnation of the guild is loaded, and verified on this life of this server, which may hold older data than the
-- one before: a script that works on a loaded guild asks this first, and else reads and changes nothing. Of meta, which is read
-- in one command, epoch, rev, since and marked are left for what follows.
-- KEYS[1] meta; ARGV[1] incarnation.
local epoch, rev, since, marked
local function loaded()
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'since', 'marked')
  epoch, rev, since, marked = meta[3], meta[4], meta[5], meta[6]
  return meta[1] == ARGV[1] and meta[2] == SERVER
end
