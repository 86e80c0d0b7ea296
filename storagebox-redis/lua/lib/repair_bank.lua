
-- Checks a whole bank, some buckets per call, and repairs steps that an older version left half done.
local MOST_BUCKETS, MOST_ENTRIES = 1024, 500
local mended = 0

local function mend(...)
    write(...)
    mended = mended + 1
end

-- Returns the item that the claim's value names, even if its hold has lapsed.
local function item_of(value)
    judge(value)
    local mark = string.sub(value, 1, 2)
    if mark == SPENT then return string.sub(value, 3) end
    if mark == UNTIL then return string.sub(value, 19) end
    return string.byte(mark) ~= 0 and value
end

-- Calls `look` for each entry of the buckets from this one on. Returns the next bucket, or ''.
local function walk(buckets, level, from, look)
    local ends, seen = 16384 * (8 ^ (level + 1) - 1) / 7, 0
    for at = from, math.min(ends, from + MOST_BUCKETS) - 1 do
        if seen >= MOST_ENTRIES then return text(at) end
        local entries = redis.call('HGETALL', buckets .. text(at))
        for i = 1, #entries, 2 do look(entries[i], entries[i + 1], buckets .. text(at), text(at)) end
        seen = seen + #entries / 2
    end
    return from + MOST_BUCKETS < ends and text(from + MOST_BUCKETS) or ''
end

-- Returns the entries that a queue got since `from` was its last piece.
local function pushed_since(name, from, last)
    local pushed = {}
    for at = from, tonumber(head[last] or 0) do
        for _, entry in ipairs(redis.call('LRANGE', base .. ':' .. name .. ':' .. text(at), 0, -1)) do pushed[entry] = true end
    end
    return pushed
end

