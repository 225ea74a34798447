-- The boards of the running day, week, month and season are sorted sets of members' gains. meta's 'boards' holds the newest day with a
-- gain, and the days of each board ('20784 20784-20785 20780-20787 - -'). It is '-' when the boards are incomplete and must be loaded with
-- the guild, and missing before the first gain. meta's 'gained:1' (of the day) to 'gained:4' (of the season) are the sums of the gains
-- above 0 of members on the board of all time. Absent and hidden members stay on the boards with their gain less AWAY, far below 0.
local AWAY = 2 ^ 52

-- Adds to a member's gain on a board.
local function add_to_board(place, member, amount)
  local after = redis.call('ZINCRBY', KEYS[9 + place], amount, member) + 0
  local counted = math.max(after, 0) - math.max(after - amount, 0)
  if counted ~= 0 then redis.call('HINCRBY', meta_key, 'gained:' .. place, counted) end
end

-- Takes a member off the boards (to is nil), or moves it far below 0 ('away') or up again ('back') if it is not there yet. Without a
-- calendar, KEYS names no boards, so they must be loaded again.
local function move_on_boards(member, to)
  if not boards or boards == '-' then return end
  if days == '' then return redis.call('HSET', meta_key, 'boards', '-') end
  for place = 1, 4 do
    local was = redis.call('ZMSCORE', KEYS[9 + place], member)[1]
    local away = was and was + 0 < -AWAY / 2
    if was and not to then
      add_to_board(place, member, -was)
      redis.call('ZREM', KEYS[9 + place], member)
    elseif was and away == (to == 'back') then
      add_to_board(place, member, away and AWAY or -AWAY)
    end
  end
end
