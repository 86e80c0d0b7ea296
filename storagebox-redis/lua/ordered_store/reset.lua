-- O-6 removes a key, value or tombstone, if its stamp is exactly the one that the call names. The cell goes last: what is in no list
-- is found by the same call again.
-- ARGV key, at, writer
-- reset | absent | stale at writer
local key, at, writer = ARGV[1], ARGV[2], ARGV[3]
local cell = base .. ':o:' .. key
local found = found_at(cell)
if not found[1] then return { 'absent' } end
if found[1] ~= at or found[2] ~= writer then return { 'stale', found[1], found[2] } end
redis.call('ZCOUNT', base .. ':x', 1, 0)
redis.call('ZCOUNT', base .. ':t', 1, 0)
write('ZREM', base .. ':x', key)
write('ZREM', base .. ':t', key)
write('DEL', cell)
return { 'reset' }
