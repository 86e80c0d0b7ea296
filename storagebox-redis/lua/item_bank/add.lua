-- IB-5 what the bank knows, in whatever state, is not changed; IB-2 what it does not know is free now.
-- ARGV items, each once
-- added
local new, items, newest = {}, {}, {}
check_counts()

-- Whether the older buckets, which get nothing new, know the item.
local function is_older(item, hash)
    if item_level == 0 then return false end
    local _, state = find(item_buckets, item_level - 1, item, hash)
    return state
end

-- Puts entries at the end of the queue, piece by piece.
local function push_all(entries)
    local from = 1
    while from <= #entries do
        local room = math.max(1, PIECE - redis.call('LLEN', piece('f', FREE_LAST)))
        local to = math.min(#entries, from + room - 1)
        local length = write('RPUSH', piece('f', FREE_LAST), unpack(entries, from, to))
        if length >= PIECE then head[FREE_LAST] = text(write('HINCRBY', base, 'fl', 1)) end
        from = to + 1
    end
end

local function put(item)
    local hash = tonumber(string.sub(redis.sha1hex(item), 1, 6), 16)
    local at = number_at(item_level, hash)
    local key = item_buckets .. at
    if is_older(item, hash) or write('HSETNX', key, item, '') == 0 then return end
    new[#new + 1], items[#items + 1], newest[#newest + 1] = queued(item, at), item, { key, hash }
    write('SETBIT', base .. ':m', at, 1)
end

-- A damaged bucket keeps all of them out.
for _, item in ipairs(ARGV) do
    local is_put, why = pcall(put, item)
    if not is_put then
        for at, one in ipairs(items) do write('HDEL', newest[at][1], one) end
        wrote = false
        error(why)
    end
end
if #new > 0 then
    push_all(new)
    add_to('n', #new)
    for _, one in ipairs(newest) do grow('i', item_level, one[1], one[2]) end
end
return { text(#new) }
