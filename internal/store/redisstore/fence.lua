-- Keeps a guild from making a request whose name is about to be claimed for another guild: it may be under way.
--
-- KEYS     records, as in changing.lua
-- ARGV     number: what is under way under a lower one is too late; the name of the request; how long the fence lasts in ms, of a guild
--          without other records
-- returns  {} | KEYREUSED when the request was made, which a packed record says of the last incarnation that was loaded
-- atomic   the check and the fence
local found = redis.call('HMGET', KEYS[1], ARGV[2], '')
local fence = string.match(found[1] or '', '^%d+ fence (%d+)$')
if found[1] and not fence then return 'KEYREUSED' end
local incarnation = string.match(found[2] or '', '^%d+')
local made = incarnation and redis.call('HGET', KEYS[1], packedfield(incarnation, ARGV[2]))
if made and holds(made, ARGV[2]) then return 'KEYREUSED' end
if not fence or tonumber(fence) < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], ARGV[2], now() .. ' fence ' .. ARGV[1]) end
if redis.call('HLEN', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {}
