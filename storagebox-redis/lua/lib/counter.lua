-- The keys of a counter namespace, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; keeps how long operations are remembered, or '' for ever; v level of
--                           the buckets; af, al first and last piece of the queue
--   hash KEYS[1]:v:BUCKET   key -> value
--   hash KEYS[1]:o:KEY      op -> since 'A' delta:value (applied), since 'X' (cancelled)
--   list KEYS[1]:a:PIECE    since length:key op: the operations of all keys, the oldest first
-- All operations of the namespace are remembered for the same time, so the oldest is the first to be forgotten.
opened('keeps', 'v', 'af', 'al')
local FIRST, LAST = 4, 5
local base, values, level = KEYS[1], KEYS[1] .. ':v:', level_of(head[3])

local function is_over(since, keeps) return keeps and since + keeps <= now() end

-- Returns what is remembered of the operation, by the clock: nil, 'X', or 'A' with its delta and value.
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
    if keeps then push('a', LAST, stamp(now()) .. string.len(key) .. ':' .. key .. op) end
    write('HSET', base .. ':o:' .. key, op, stamp(now()) .. what)
end

local function forget(oldest)
    local length, from = string.match(oldest, '^(%d+):()', 17)
    local ops, op = base .. ':o:' .. string.sub(oldest, from, from + length - 1), string.sub(oldest, from + length)
    local value = redis.call('HGET', ops, op)
    -- An operation that was made again meanwhile is another one.
    if value and string.sub(value, 1, 16) == string.sub(oldest, 1, 16) then write('HDEL', ops, op) end
end

-- Forgets at most `most` operations that are over, and returns how many it forgot.
local function prune(most, keeps)
    local function is_due(oldest) return is_over(stamped(oldest, 1), keeps) end
    local done = 0
    repeat
        local gone, more = sweep('a', FIRST, most - done, is_due, forget)
        done = done + gone
    until not more or done >= most
    return done
end

-- Returns whether the key has as many operations as it may have, or nil if too many are over to forget them at once.
local function is_full(key, capacity, keeps)
    if not capacity then return false end
    if prune(1000, keeps) == 1000 then return nil end
    return redis.call('HLEN', base .. ':o:' .. key) >= capacity
end
