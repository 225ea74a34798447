-- The number that a score's text stands for. The embedded Redis writes round scores as 1e+8, which its Lua cannot read.
local function score(text)
  local digits, zeros = string.match(text, '^(%d+)e%+(%d+)$')
  if digits then text = digits .. string.rep('0', tonumber(zeros)) end
  return tonumber(text)
end
