-- O-1 The newest stamp wins, in any order of arrival. O-2 Stamps compare by time or number, then writer, then delete
-- over put. O-3 A delete leaves a tombstone; a stamp before the horizon is refused, unless the stored stamp decides.
-- O-4 A stamp may be ahead of this clock by at most the skew. O-5 Sequence numbers use no clock.
-- ARGV key, at, writer, 'put' or 'delete', value, 'timed' or '', skew in microseconds or '', age of tombstones in
-- milliseconds
-- Returns applied | stale at writer | duplicate | mismatch | too old horizon | ahead clock
local key, at, writer, payload = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local is_put, is_timed, skew, age = ARGV[4] == 'put', ARGV[6] ~= '', tonumber(ARGV[7]), tonumber(ARGV[8])
local cell, now_millis = base .. ':o:' .. key, math.floor(now() / 1000)
local high, low = whole(at)

-- Compares the time or number of the call with another one, as 64-bit numbers. Returns -1, 0 or 1.
local function order_of(other)
    local other_high, other_low = whole(other)
    if is_less(high, low, other_high, other_low) then return -1 end
    return is_less(other_high, other_low, high, low) and 1 or 0
end

-- Compares the writer of the call with another one, by bytes: `<` would use the server's locale. Returns -1, 0 or 1.
local function order_of_writer(other)
    for i = 1, math.min(string.len(writer), string.len(other)) do
        local one, its = string.byte(writer, i), string.byte(other, i)
        if one ~= its then return one < its and -1 or 1 end
    end
    local lengths = string.len(writer) - string.len(other)
    return lengths == 0 and 0 or lengths / math.abs(lengths)
end

if is_timed and skew and order_of(text(math.floor((now() + skew) / 1000))) > 0 then return { 'ahead', text(now_millis) } end
local found = found_at(cell)
if found[1] then
    local order = order_of(found[1])
    if order == 0 then order = order_of_writer(found[2]) end
    if order == 0 and is_put ~= (found[3] ~= false) then order = is_put and -1 or 1 end
    if order < 0 then return { 'stale', found[1], found[2] } end
    if order == 0 then return { (not is_put or found[3] == payload) and 'duplicate' or 'mismatch' } end
end
local horizon = is_timed and text(now_millis - age)
if horizon and order_of(horizon) < 0 then return { 'too old', horizon } end

redis.call('ZCOUNT', base .. ':x', 1, 0)
if is_put then
    write('ZREM', base .. ':t', key)
    write('ZADD', base .. ':x', 0, key)
    write('HSET', cell, 'a', at, 'w', writer, 'r', text(now()), 'v', payload)
else
    -- Rounding affects only absurd stamps; `purge` compares the stamp itself.
    local goes = is_timed and math.max(now() + age * 1000, (tonumber(at) + age + 1) * 1000) or now()
    write('ZADD', base .. ':t', string.format('%.17g', goes), key)
    write('ZREM', base .. ':x', key)
    write('HDEL', cell, 'v')
    write('HSET', cell, 'a', at, 'w', writer, 'r', text(now()))
end
return { 'applied' }
