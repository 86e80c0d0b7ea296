-- O-03 the value; a tombstone is none.
-- ARGV key
-- at writer value | nothing
local found = redis.call('HMGET', base .. ':o:' .. ARGV[1], 'a', 'w', 'v')
return found[3] and found or {}
