-- IB-6 Makes a hold permanent, idempotently, if it has not ended. ER-5 A void call spends nothing.
-- ARGV claim, memory or '', call, 'repeated' or ''
-- Returns again item confirmed | ended why | unknown | open
local claim, memory, call, is_repeated = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] ~= ''
local row, word, item, left = settle(claim, memory)
if is_void(row.void, call) then return { 'unknown' } end
if word == 'unknown' then return refused('unknown', claim, row, call, is_repeated) end
if word ~= 'again' or left == 'confirmed' then return { word, item, left } end
check()
add_to('s', 1)
write('HSET', row.key, claim, with_calls(row.void, SPENT .. item))
write('ZREM', base .. ':t', claim)
return { 'again', item, 'confirmed' }
