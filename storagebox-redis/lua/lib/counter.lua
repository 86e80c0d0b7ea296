-- The keys of a counter namespace, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; keeps how long operations are remembered, or '' for ever; v level of
--                           the buckets; af, al first and last piece of the queue
--   hash KEYS[1]:v:BUCKET   key -> value
--   hash KEYS[1]:o:KEY      op -> since 'A' delta:value (applied), since 'X' (cancelled), since 'V' refusal:calls (only
--                           has void calls); VOIDED -> how many operations of the key only have void calls
--   list KEYS[1]:a:PIECE    since length:key op: the operations of all keys, the oldest first
-- All operations of the namespace are remembered for the same time, so the oldest is the first to be forgotten.
opened('keeps', 'v', 'af', 'al')
local FIRST, LAST = 4, 5
local base, values, level = KEYS[1], KEYS[1] .. ':v:', level_of(head[3])
-- No operation has this name.
local VOIDED = '\0V'

local function is_over(since, keeps) return keeps and since + keeps <= now() end

-- Returns what is remembered of the operation at this moment: nil, 'X', 'A' with its delta and value, or 'V' with its
-- refusal and void calls. Void calls that need not be remembered any more are '': the operation still counts in VOIDED.
local function known(ops, op, keeps)
    local value = redis.call('HGET', ops, op)
    if not value then return nil end
    local since, kind = stamped(value, 1), string.sub(value, 17, 17)
    local delta, result = string.match(value, '^(-?%d+):(-?%d*)$', 18)
    local refusal, calls = string.match(value, '^([%l ]+):( [%d -]+ )$', 18)
    local is_whole = kind == 'X' or kind == 'A' and delta or kind == 'V' and refusal
    if not since or not is_whole then corrupt('an operation of an unknown state') end
    local is_past = is_over(since, keeps)
    if kind == 'V' then return kind, refusal, is_past and '' or calls end
    if is_past then return nil end
    return kind, delta, result
end

local function count_voided(ops)
    return tonumber(redis.call('HGET', ops, VOIDED) or '0') or corrupt('a counter whose void count is no number')
end

local function add_voided(ops, number)
    if write('HINCRBY', ops, VOIDED, number) == 0 then write('HDEL', ops, VOIDED) end
end

-- Forgets an operation that only has void calls, unless it is forgotten already.
local function drop_void(ops, op)
    local value = redis.call('HGET', ops, op)
    if not value or string.sub(value, 17, 17) ~= 'V' then return end
    count_voided(ops)
    write('HDEL', ops, op)
    add_voided(ops, -1)
end

-- Stores what to remember of the operation. `kind` is what `known` returned for it before.
local function remember(key, op, what, keeps, kind)
    if kind == 'V' then
        -- Checks the type of the key that is written to next.
        redis.call('LLEN', piece('a', LAST))
        drop_void(base .. ':o:' .. key, op)
    end
    if keeps then push('a', LAST, stamp(now()) .. string.len(key) .. ':' .. key .. op) end
    write('HSET', base .. ':o:' .. key, op, stamp(now()) .. what)
end

local function forget(oldest)
    local length, from = string.match(oldest, '^(%d+):()', 17)
    local ops, op = base .. ':o:' .. string.sub(oldest, from, from + length - 1), string.sub(oldest, from + length)
    local value = redis.call('HGET', ops, op)
    -- An operation that was made again since then has a later entry.
    if not value or string.sub(value, 1, 16) ~= string.sub(oldest, 1, 16) then return end
    if string.sub(value, 17, 17) == 'V' then drop_void(ops, op) else write('HDEL', ops, op) end
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

-- Returns whether the key has as many operations as it may have. Returns nil if too many operations are over to forget
-- them in one script.
local function is_full(key, capacity, keeps)
    if not capacity then return false end
    if prune(1000, keeps) == 1000 then return nil end
    local ops = base .. ':o:' .. key
    local fields = redis.call('HLEN', ops)
    if fields < capacity then return false end
    -- Operations that only have void calls take no room, nor does the field with their number.
    local voided = count_voided(ops)
    if voided > 0 then fields = fields - voided - 1 end
    return fields >= capacity
end
