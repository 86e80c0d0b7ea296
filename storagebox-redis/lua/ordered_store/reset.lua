-- O-6 Removes the value or tombstone of a key if its stamp equals the given stamp. Removes the cell last: a retry after
-- a half-done call still finds a cell that is in no list.
-- ARGV key, at, writer
-- Returns reset | absent | stale at writer
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
