-- D-04 the record unless its retention is over; changes nothing.
-- ARGV id
-- version value | nothing
local found = redis.call('HMGET', key, 's', 'u', 'n', 'v')
if found[1] ~= 'D' or is_past('D', found[2]) then return {} end
return { found[3], found[4] }
