-- Removes a user's entry and gains from a guild. The next snapshot removes the user's entries of the journal; erase_events.lua removes
-- the events.
--
-- KEYS     meta xp off entry dirty journal, boards of the day, week, month and season
-- ARGV     member, 1 to note the deletion even if the member is not found, else 0
-- returns  {} when the guild is not loaded | {'incarnation', incarnation} when it is not in use | {..., 'noted', 0} when the user was not
--          found | {..., 'noted', 1, 'epoch', epoch, 'rev', rev}
-- atomic   all of it, and the note for the snapshot, which finds no entry and writes a tombstone
local meta_key, xp_key, off_key, entry_key, dirty_key, journal_key = unpack(KEYS, 1, 6)
local user, always = unpack(ARGV)
local meta = redis.call('HMGET', meta_key, 'incarnation', 'server', 'epoch', 'rev', 'since', 'pending')
local incarnation, server, epoch, rev, since, pending = unpack(meta, 1, 6)
if not incarnation then return {} end
if server ~= SERVER then return {'incarnation', incarnation} end

local removed = redis.call('HDEL', entry_key, user) + redis.call('ZREM', xp_key, user) + redis.call('ZREM', off_key, user)
local found = always == '1' or removed > 0 or redis.call('ZMSCORE', dirty_key, user)[1]
for place = 1, 4 do
  local gained = redis.call('ZMSCORE', KEYS[6 + place], user)[1]
  if gained then
    found = true
    redis.call('ZREM', KEYS[6 + place], user)
    redis.call('HINCRBY', meta_key, 'gained:' .. place, math.min(-gained, 0))
  end
end
local from = '-'
repeat
  local part = redis.call('XRANGE', journal_key, from, '+', 'COUNT', 500)
  for i = 1, #part do
    found = found or string.find(table.concat(part[i][2], ' '), user, 1, true)
    from = '(' .. part[i][1]
  end
until #part < 500

if not found then return {'incarnation', incarnation, 'noted', 0} end
rev = note(meta_key, dirty_key, rev, since, pending, now(), {user})
return {'incarnation', incarnation, 'noted', 1, 'epoch', epoch, 'rev', rev}
