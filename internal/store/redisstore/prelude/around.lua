-- The first and the last position (from 0) of a stretch of a board of total members with one of them in the middle: of an even limit one more
-- is above, and at the ends of the board there are as many as elsewhere. Nothing for one who is not on it.
local function around(board, total, member, limit)
  local rank = redis.call('ZREVRANK', board, member)
  if not rank or rank >= total then return end
  local first = math.max(math.min(rank - math.floor(limit / 2), total - limit), 0)
  return first, math.min(first + limit, total) - 1
end
