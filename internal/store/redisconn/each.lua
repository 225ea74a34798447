-- Runs a script for several guilds, one after the other, each as if it were run for that guild alone: what goes wrong with one is
-- its own. To begin a run and to make its functions takes longer than a small change (docs/adr/0007-calls-sent-together.md).
--
-- KEYS     of the first guild, of the second, ...: as many for each
-- ARGV     how many guilds; then for each, one after the other, how many arguments (at most 1000) and those
-- returns  {what it returned for the first, for the second, ...}; where it failed, for a single guild the error, and for several a
--          string: '-' and the error. go-redis ends an array at an error that it has a type for, such as OOM, and takes what
--          follows in it for the answers to the next commands
-- atomic   what the script says, for each guild; and all of it is one step
local keys, args, KEYS, ARGV = KEYS, ARGV
local redis, unpack, tonumber = redis, unpack, tonumber -- which are then not looked up by their names
-- FUNCTIONS
local function run()
-- BODY
end

local function failed(reply) return type(reply) == 'table' and reply or redis.error_reply(reply) end

local guilds, at, replies = tonumber(args[1]), 2, {}
local width = #keys / guilds
for i = 1, guilds do
  local count = tonumber(args[at])
  KEYS, ARGV = {unpack(keys, (i - 1) * width + 1, i * width)}, {unpack(args, at + 1, at + count)}
  at = at + 1 + count
  local _, reply = xpcall(run, failed) -- after an error, pcall of the embedded Redis's Lua keeps returning it
  if guilds > 1 and type(reply) == 'table' and reply.err then reply = '-' .. reply.err end
  replies[i] = reply
end
return replies
