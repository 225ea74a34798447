-- Keeps a guild from making a request whose name is about to be claimed for another guild: it may be under way.
--
-- KEYS     the record, as in changing.lua
-- ARGV     number: what is under way under a lower one is too late; how long the fence lasts in ms
-- returns  {} | KEYREUSED when the request was made
-- atomic   the check and the fence
local found = redis.call('GET', KEYS[1])
local fence = string.match(found or '', '^fence (%d+)$')
if found and not fence then return 'KEYREUSED' end
if not fence or tonumber(fence) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], 'fence ' .. ARGV[1], 'PX', ARGV[2]) end
return {}
