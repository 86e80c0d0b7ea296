-- IB-6 Extends a hold to now plus the given time. Never shortens it, and does not revive a lapsed hold. ER-5 A void
-- call extends nothing.
-- ARGV claim, hold or '', memory or '', call, 'repeated' or ''
-- Returns extended item hold | again item confirmed | ended why | unknown | open
local claim, hold, memory = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local call, is_repeated = ARGV[4], ARGV[5] ~= ''
local row, word, item, left = settle(claim, memory)
if is_void(row.void, call) then return { 'unknown' } end
if word == 'unknown' then return refused('unknown', claim, row, call, is_repeated) end
if word ~= 'again' or left == 'confirmed' then return { word, item, left } end
if left == 'forever' or not hold then
    write('ZREM', base .. ':t', claim)
    write('HSET', row.key, claim, with_calls(row.void, item))
    return { 'extended', item, 'forever' }
end
local longest = math.max(hold, tonumber(left))
write('ZADD', base .. ':t', text(now() + longest), claim)
write('HSET', row.key, claim, with_calls(row.void, UNTIL .. stamp(now() + longest) .. item))
return { 'extended', item, text(longest) }
