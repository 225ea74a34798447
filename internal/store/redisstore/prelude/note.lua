-- Raises the guild's rev and notes the changed members, each named once, for the next snapshot. A member is noted with the rev of its
-- oldest change that no snapshot has read, so the oldest changes are written first. A member whose rev is at most `pending` may be in the
-- page that is being written, so it is noted again with the new rev. rev, since and pending are meta's. Returns the new rev.
local function note(meta_key, dirty_key, rev, since, pending, time, members)
  rev = string.format('%.0f', rev + 1) -- a text: Redis would format a number for each member
  redis.call('HSET', meta_key, 'rev', rev, 'since', since or time)
  local waiting, noted = pending and redis.call('ZMSCORE', dirty_key, unpack(members)), {}
  for i = 1, #members do
    if not waiting or not waiting[i] or waiting[i] + 0 <= pending + 0 then
      noted[#noted + 1] = rev
      noted[#noted + 1] = members[i]
    end
  end
  if #noted > 0 then redis.call('ZADD', dirty_key, pending and 'GT' or 'NX', unpack(noted)) end
  return rev
end
