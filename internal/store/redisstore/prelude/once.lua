-- What a change that a client may send again is answered when it was made before, its first outcome, or may not be made;
-- otherwise nothing. A script that makes one asks this after loaded. A record is the incarnation, the request and the outcome,
-- with a space between; or it is a fence, which stops what claimed the name under a lower number (claim.lua, fence.lua).
-- KEYS[1] meta, KEYS[6] the record, or no such key when the request has no name; ARGV[1] incarnation, and with a KEYS[6] the
-- last three of ARGV: the number of the claim, the request, how long a record lasts in ms.
local function once()
  if not KEYS[6] then return end
  local found = redis.call('GET', KEYS[6]) or 'fence 0'
  local fence = string.match(found, '^fence (%d+)$')
  if not fence then
    local incarnation, request, outcome = string.match(found, '^(%d+) (%S+) (.+)$')
    if not outcome then return redis.error_reply('ERR a record of a request is damaged') end
    if request ~= ARGV[#ARGV - 1] then return 'KEYREUSED' end
    if incarnation == ARGV[1] then return {'REPLAYED', outcome} end
  elseif tonumber(fence) > tonumber(ARGV[#ARGV - 2]) then
    return 'CLAIMLOST'
  end
end

-- Records the outcome of a change that is made.
local function record(...)
  if not KEYS[6] then return end
  redis.call('SET', KEYS[6], table.concat({ARGV[1], ARGV[#ARGV - 1], ...}, ' '), 'PX', ARGV[#ARGV])
end
