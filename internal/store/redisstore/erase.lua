-- Takes a user's entry and gains out of a guild. What the journal says of the user leaves it with the next snapshot; events are left to erase_events.lua.
--
-- KEYS     meta xp entry dirty, journal, boards of the day, week, month and season
-- ARGV     member, 1 to note the deletion though nothing is found, else 0
-- returns  {} when the guild is not loaded | {incarnation} when it is not in use | {incarnation, 0: the user was not found, or 1, epoch,
--          rev}
-- atomic   all of it, and the note for the snapshot, which finds no entry and writes a tombstone
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'since', 'pending')
if not meta[1] then return {} end
if meta[2] ~= SERVER then return {meta[1]} end
local user, found = ARGV[1], ARGV[2] == '1'

if redis.call('HDEL', KEYS[3], user) + redis.call('ZREM', KEYS[2], user) > 0 then found = true end
if redis.call('ZMSCORE', KEYS[4], user)[1] then found = true end

for i = 6, 9 do
  local was = redis.call('ZMSCORE', KEYS[i], user)[1]
  if was then
    found = true
    redis.call('ZREM', KEYS[i], user)
    local sum = ({'gained:day', 'gained:week', 'gained:month', 'gained:season'})[i - 5]
    redis.call('HINCRBY', KEYS[1], sum, string.format('%.0f', math.min(-tonumber(was), 0)))
  end
end

local from = '-'
repeat
  local part = redis.call('XRANGE', KEYS[5], from, '+', 'COUNT', 500)
  for i = 1, #part do
    local fields = part[i][2]
    for j = 2, #fields, 2 do
      if string.find(fields[j], user, 1, true) then found = true end
    end
    from = '(' .. part[i][1]
  end
until #part < 500

if not found then return {meta[1], 0} end
local counted = note(meta[4], meta[5], meta[6], {user}, 1, 1)
return {meta[1], 1, meta[3], counted}
