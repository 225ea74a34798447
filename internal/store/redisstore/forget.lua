-- Goes over the records of requests, a part of a guild's at a time; over each guild's once in a while. It packs those that the archive has with all that
-- they did (packed.lua), and removes those that are older than they last. A field ' ' says how far it is: a cursor, and when it begins again.
--
-- KEYS     records, meta
-- ARGV     how long a record stays whole, and until this begins again, in ms; how many records are looked at, or all of a small guild
-- returns  {1 when there is more to look at now, else 0}
-- atomic   each part; no request is recorded under a name meanwhile whose record goes
local state = redis.call('HMGET', KEYS[1], ' ', '')
local cursor, due = string.match(state[1] or '0 0', '^(%d+) (%d+)$')
if redis.call('HLEN', KEYS[1]) < 2 or tonumber(due) > now() then return {0} end
redis.call('HDEL', KEYS[1], ' ') -- a first write, so that a full memory, in which this makes room, does not stop it (put.lua)
local meta = redis.call('HMGET', KEYS[2], 'incarnation', 'server', 'since')
local incarnation = meta[2] == SERVER and meta[1]
local archived = math.min(now() - tonumber(ARGV[1]), tonumber(meta[3] or now())) -- all that was made before is, and was a while ago

-- Versions that do not know packed records cannot read '' then, and ask the archive for every name.
local head, rest = string.match(incarnation and state[2] or '', '^(%d+ )(%d.*)$')
if head then redis.call('HSET', KEYS[1], '', head .. '+' .. rest) end

-- Appends to a packed field, without what is too old in it.
local function append(field, more)
  local text, from = redis.call('HGET', KEYS[1], field) or '', 1
  while from < #text and lapsed(text, from) do from = from + 12 end
  text = string.sub(text, from) .. more
  if text == '' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, text) end
end

local part = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', ARGV[2])
for i = 1, #part[2], 2 do
  local name, text = part[2][i], part[2][i + 1]
  if string.find(name, ' ...$') then
    if lapsed(text, 1) then append(name, '') end
  elseif #name > 1 then
    local made, of = string.match(text, '^(%d+) (%S+) ')
    local old = made and now() - tonumber(made) > ONCE_TTL
    local pack = not old and of == incarnation and tonumber(made) < archived
    if pack then append(packedfield(of, name), string.sub(name, 3, 10) .. string.format('%04x', math.floor(made / 60000) % 65536)) end
    if old or pack then redis.call('HDEL', KEYS[1], name) end
  end
end
local more = part[1] ~= '0'
redis.call('HSET', KEYS[1], ' ', part[1] .. ' ' .. string.format('%.0f', more and 0 or now() + ARGV[1]))
return {more and 1 or 0}
