-- Counters, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]         epoch that of the store; keeps how long operations are remembered, or '' for ever
--   hash KEYS[1]:v       key -> value
--   hash KEYS[1]:o:KEY   op -> since 'A' delta:value (applied), since 'X' (cancelled)
--   list KEYS[1]:a       since length:key op: the operations of all keys, the oldest first
-- How long they are remembered is one for the whole box, so the oldest is the first to go.
local base, head = KEYS[1], opened('keeps')

local function is_over(since, keeps) return keeps and since + keeps <= now() end

-- What is remembered of the operation by the clock: nothing, 'X', or 'A' with its delta and value.
local function known(ops, op, keeps)
    local value = redis.call('HGET', ops, op)
    if not value then return nil end
    local since, kind = stamped(value, 1), string.sub(value, 17, 17)
    local delta, result = string.match(value, '^(-?%d+):(-?%d*)$', 18)
    if not since or kind ~= 'X' and not (kind == 'A' and delta) then corrupt('an operation of an unknown state') end
    if is_over(since, keeps) then return nil end
    return kind, delta, result
end

local function remember(key, op, what, keeps)
    if keeps then write('RPUSH', base .. ':a', stamp(now()) .. string.len(key) .. ':' .. key .. op) end
    write('HSET', base .. ':o:' .. key, op, stamp(now()) .. what)
end

-- Forgets at most so many operations that are over; how many.
local function prune(most, keeps)
    for done = 0, most - 1 do
        local oldest = redis.call('LINDEX', base .. ':a', 0)
        if not oldest or not is_over(stamped(oldest, 1), keeps) then return done end
        local length, from = string.match(oldest, '^(%d+):()', 17)
        local ops = base .. ':o:' .. string.sub(oldest, from, from + length - 1)
        local op = string.sub(oldest, from + length)
        local value = redis.call('HGET', ops, op)
        write('LPOP', base .. ':a')
        -- One that was made anew meanwhile is another one.
        if value and string.sub(value, 1, 16) == string.sub(oldest, 1, 16) then write('HDEL', ops, op) end
    end
    return most
end

-- Whether the key has as many operations as it may; nil if those that are over are too many to be forgotten at once.
local function is_full(key, capacity, keeps)
    if not capacity then return false end
    if prune(1000, keeps) == 1000 then return nil end
    return redis.call('HLEN', base .. ':o:' .. key) >= capacity
end
