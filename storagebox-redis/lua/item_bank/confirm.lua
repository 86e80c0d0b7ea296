-- IB-6 Makes a hold permanent before its end, idempotently; afterwards the claim has ended.
-- ARGV claim, memory or ''
-- Returns again item confirmed | ended why | unknown
local claim, memory = ARGV[1], tonumber(ARGV[2])
local key, word, item, left = settle(claim, memory)
if word ~= 'again' or left == 'confirmed' then return { word, item, left } end
check()
add_to('s', 1)
write('HSET', key, claim, SPENT .. item)
write('ZREM', base .. ':t', claim)
return { 'again', item, 'confirmed' }
