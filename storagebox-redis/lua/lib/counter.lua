-- Counters, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]         keeps how long operations are remembered, or '' for ever
--   hash KEYS[1]:v       key -> value
--   hash KEYS[1]:o:KEY   op -> since 'A' delta:value (applied), since 'X' (cancelled)
--   list KEYS[1]:a       since length:key op: the operations of all keys, the oldest first
-- How long they are remembered is one for the whole box, so the oldest is the first to go.
local base = KEYS[1]

local function is_over(since, keeps) return keeps and since + keeps <= now() end

-- What is remembered of the operation by the clock: nothing, 'X', or 'A' with its delta and value.
local function known(ops, op, keeps)
    local value = redis.call('HGET', ops, op)
    if not value or is_over(stamped(value, 1), keeps) then return nil end
    local delta, result = string.match(value, '^([^:]*):(.*)$', 18)
    return string.sub(value, 17, 17), delta, result
end

local function remember(key, op, what, keeps)
    redis.call('HSET', base .. ':o:' .. key, op, stamp(now()) .. what)
    if keeps then redis.call('RPUSH', base .. ':a', stamp(now()) .. string.len(key) .. ':' .. key .. op) end
end

-- Forgets at most so many operations that are over; how many.
local function prune(most, keeps)
    for done = 0, most - 1 do
        local oldest = redis.call('LINDEX', base .. ':a', 0)
        if not oldest or not is_over(stamped(oldest, 1), keeps) then return done end
        redis.call('LPOP', base .. ':a')
        local length, from = string.match(oldest, '^(%d+):()', 17)
        local ops = base .. ':o:' .. string.sub(oldest, from, from + length - 1)
        local op = string.sub(oldest, from + length)
        local value = redis.call('HGET', ops, op)
        -- One that was made anew meanwhile is another one.
        if value and string.sub(value, 1, 16) == string.sub(oldest, 1, 16) then redis.call('HDEL', ops, op) end
    end
    return most
end

-- Whether the key has as many operations as it may; nil if those that are over are too many to be forgotten at once.
local function is_full(key, capacity, keeps)
    if not capacity then return false end
    if prune(1000, keeps) == 1000 then return nil end
    return redis.call('HLEN', base .. ':o:' .. key) >= capacity
end
