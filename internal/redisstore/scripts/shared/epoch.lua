-- Put before every script of the snapshot writer that belongs to one epoch: what was loaded anew since is not touched.
-- KEYS[1] meta; ARGV[2] epoch.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[2] then return 'NOTLOADED' end
