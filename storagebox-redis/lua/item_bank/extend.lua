-- IB-6 Extends a hold to now plus the given time, never shorter; does not revive a lapsed hold.
-- ARGV claim, hold or '', memory or ''
-- Returns extended item hold | again item confirmed | ended why | unknown
local claim, hold, memory = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local key, word, item, left = settle(claim, memory)
if word ~= 'again' or left == 'confirmed' then return { word, item, left } end
if left == 'forever' or not hold then
    write('ZREM', base .. ':t', claim)
    write('HSET', key, claim, item)
    return { 'extended', item, 'forever' }
end
local longest = math.max(hold, tonumber(left))
write('ZADD', base .. ':t', text(now() + longest), claim)
write('HSET', key, claim, UNTIL .. stamp(now() + longest) .. item)
return { 'extended', item, text(longest) }
