-- C-6, C-7 Reads the sum of the applied operations.
-- ARGV key
-- Returns value
local _, value = find(values, level, ARGV[1])
return { value or '0' }
