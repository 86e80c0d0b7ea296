-- C-6, C-7 the sum of what was applied.
-- ARGV key
-- value
local _, value = find(values, level, ARGV[1])
return { value or '0' }
