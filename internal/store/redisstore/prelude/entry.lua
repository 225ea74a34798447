-- An entry is a text of fields separated by NUL: message count, last update, end of the cooldown, 'a' if the member is absent, gains by
-- day (gains.lua), and five fields of user data.

-- Returns message count, end of the cooldown, 'a' or '', gains and all user data. A missing entry gives zeros, a damaged one nil.
local function fields(entry)
  if not entry then return '0', '0', '', '', '\0\0\0\0' end
  return string.match(entry, '^(%d+)%z%d+%z(%d+)%z(a?)%z([^%z]*)%z(.*)$')
end

local function entry_text(count, updated, cooldown_end, absent, gains, user)
  return count .. '\0' .. updated .. '\0' .. cooldown_end .. '\0' .. absent .. '\0' .. gains .. '\0' .. user
end

-- Returns the gains of a new entry: '!' if the member waits for a snapshot, because the archive may still hold days of an earlier entry.
-- boards is meta's.
local function first_gains(dirty_key, boards, member)
  return boards and redis.call('ZMSCORE', dirty_key, member)[1] and '!' or ''
end
