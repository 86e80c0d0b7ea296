-- O-3 the value; a tombstone is no value.
-- ARGV key
-- at writer value | nothing
local found = found_at(base .. ':o:' .. ARGV[1])
return found[3] and found or {}
