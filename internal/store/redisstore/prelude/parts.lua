-- The message count, the end of the cooldown and the user data of an entry, all as text, and of the user data the space before
-- it, or '' when it is not known. Nothing when the entry is damaged.
local function parts(entry)
  local _, _, count, ends, user = string.find(entry, '^(%d+) %d+ (%d+)(.*)$')
  if user == '' or (user and #user > 1 and string.byte(user) == 32) then return count, ends, user end
end
