-- The time of the server in milliseconds since 1970, the same throughout a run.
local now
do
  local time
  function now()
    if not time then
      local t = redis.call('TIME')
      time = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
    end
    return time
  end
end
