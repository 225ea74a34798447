-- Sets a field of meta, also when the memory of the server is full: after a first write, here the HDEL, Redis refuses a script
-- nothing for want of memory. It is for what makes room in the end, so for nothing that a client asks for.
-- KEYS[1] meta.
local function put(field, value)
  local reply = redis.pcall('HSET', KEYS[1], field, value)
  if type(reply) == 'table' and reply.err then
    redis.call('HDEL', KEYS[1], field)
    redis.call('HSET', KEYS[1], field, value)
  end
end
