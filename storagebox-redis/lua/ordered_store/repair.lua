-- Moves keys without a value out of the list of values, and keys without a tombstone out of the list of tombstones.
local keeps = tonumber(head[2])

-- Returns the earliest moment at which the tombstone may be removed, computed as in `write`.
local function goes(at, arrived)
    return keeps and math.max(arrived + keeps * 1000, (tonumber(at) + keeps + 1) * 1000) or tonumber(arrived)
end

local function look_at_key(key)
    local found = redis.call('HMGET', base .. ':o:' .. key, 'a', 'r', 'v')
    if found[3] then return end
    if found[1] and tonumber(found[2]) then
        write('ZADD', base .. ':t', string.format('%.17g', goes(found[1], found[2])), key)
    end
    mend('ZREM', zset, key)
end

local function look_at_tombstone(key)
    local found = redis.call('HMGET', base .. ':o:' .. key, 'a', 'v')
    if found[1] and not found[2] then return false end
    if found[2] then write('ZADD', base .. ':x', 0, key) end
    mend('ZREM', zset, key)
    return true
end

return ARGV[1] == 'x' and walk_names(look_at_key) or walk_scores(look_at_tombstone)
