-- D-4 Reads the record unless its retention is over; changes nothing.
-- ARGV id
-- Returns version value | nothing
local found = redis.call('HMGET', key, 's', 'u', 'n', 'v', 'f', 'o')
check_state(found[1], found[2], found[3], found[5], found[6])
if found[1] ~= 'D' or is_past('D', found[2]) then return {} end
return { found[3], found[4] or corrupt('a record without a value') }
