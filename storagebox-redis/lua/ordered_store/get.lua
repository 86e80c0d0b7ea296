-- O-3 Reads the value; a tombstone is no value.
-- ARGV key
-- Returns at writer value | nothing
local found = found_at(base .. ':o:' .. ARGV[1])
return found[3] and found or {}
