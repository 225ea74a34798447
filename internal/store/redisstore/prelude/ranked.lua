-- Reads members (at most 1000): for each {'xp', XP, 'rank', rank from 0, 'entry', entry}, with nil for what is missing. With off_key, an
-- absent or hidden member also has its XP, the rank that it would have, and 'off' with 1; without off_key it has only its entry.
local function ranked(xp_key, off_key, entry_key, members)
  if #members == 0 then return {} end
  local scores, entries = redis.call('ZMSCORE', xp_key, unpack(members)), redis.call('HMGET', entry_key, unpack(members))
  local all = {}
  for i = 1, #members do
    all[i] = {'xp', scores[i], 'rank', scores[i] and redis.call('ZREVRANK', xp_key, members[i]), 'entry', entries[i]}
    local off = off_key and not scores[i] and redis.call('ZMSCORE', off_key, members[i])[1]
    if off then all[i] = {'xp', off, 'rank', redis.call('ZCOUNT', xp_key, '(' .. off, '+inf'), 'entry', entries[i], 'off', 1} end
  end
  return all
end
