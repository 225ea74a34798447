-- Reads members (at most 1000): for each {'xp', XP, 'rank', rank from 0, 'entry', entry}, with nil where there is none.
local function ranked(xp_key, entry_key, members)
  if #members == 0 then return {} end
  local scores, entries = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('HMGET', entry_key, unpack(members))
  local all = {}
  for i = 1, #members do
    all[i] = {'xp', scores[i], 'rank', scores[i] and redis.call('ZREVRANK', xp_key, members[i]), 'entry', entries[i]}
  end
  return all
end
