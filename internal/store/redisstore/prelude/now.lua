-- The time of the server in milliseconds since 1970, the same throughout a run, and its text, which is made once as well, since to
-- make text of a number is slow.
local now, stamp
do
  local time, text
  function now()
    if not time then
      local t = redis.call('TIME')
      time = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
    end
    return time
  end
  function stamp()
    text = text or string.format('%.0f', now())
    return text
  end
end
