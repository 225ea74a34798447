-- Copies a part of the archive's flags of hidden users, and moves these members off the board or back onto it. Each flag has the number
-- of its change. A late or repeated part changes no user whose flags in the guild have a higher number.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua, without a name; the number before the part's first, and the part's last; for each user in it
--          user, flags ('': no longer hidden) and number
-- returns  {'hidden', the number up to which the guild has the flags now} | NOTLOADED
-- atomic   all users, and the guild's rev: pages change, but no member has to be archived
local after, upto = ARGV[10], ARGV[11]
local has = redis.call('HGET', meta_key, 'hidden') or '0'
if has + 0 < after + 0 or has + 0 >= upto + 0 then return {'hidden', has} end
for i = 12, #ARGV, 3 do
  local member, flags, number = unpack(ARGV, i, i + 2)
  if number + 0 > has + 0 then
    if flags == '' then redis.call('HDEL', hidden_key, member) else redis.call('HSET', hidden_key, member, flags) end
    local _, _, absent = fields(redis.call('HGET', entry_key, member))
    local to_key = seat(absent, flags ~= '')
    local xp = redis.call('ZMSCORE', to_key == xp_key and off_key or xp_key, member)[1]
    if xp then
      redis.call('ZREM', to_key == xp_key and off_key or xp_key, member)
      redis.call('ZADD', to_key, string.format('%.0f', xp + 0), member)
      move_on_boards(member, to_key == xp_key and 'back' or 'away')
    end
  end
end
redis.call('HSET', meta_key, 'hidden', upto, 'rev', rev + 1, 'since', since or time)
return {'hidden', upto}
