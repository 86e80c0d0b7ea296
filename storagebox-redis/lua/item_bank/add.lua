-- IB-2, IB-5 Adds unknown items as free ones; a known item is not changed, whatever its state.
-- ARGV items, each once
-- Returns how many were added
local new, items, newest = {}, {}, {}
check_counts()

-- Returns whether an older bucket has the item. Older buckets get no new items.
local function is_older(item, hash)
    if item_level == 0 then return false end
    local _, state = find(item_buckets, item_level - 1, item, hash)
    return state
end

-- Appends entries to the queue, piece by piece.
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

-- If one bucket is damaged, none of the items is added.
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
