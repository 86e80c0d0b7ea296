-- Claims of a bank: how they end, and what they are by the clock.

-- What the calls below write to besides buckets is of the right type.
local function check()
    redis.call('LLEN', piece('f', FREE_LAST))
    redis.call('LLEN', piece('e', ENDED_LAST))
    redis.call('ZCOUNT', base .. ':t', 1, 0)
end

-- The bucket of an item that this claim has.
local function bucket_of(item, claim)
    local its, state = find_item(item)
    if state ~= claim then corrupt('a claim whose item is not its own') end
    return its
end

-- IB-7 the claim is over from this moment on, and remembered so.
local function finish(key, claim, mark, since)
    write('HSET', key, claim, mark .. stamp(since))
    push('e', ENDED_LAST, stamp(since) .. claim)
end

-- The moment in a mark, and what follows it.
local function timed(value) return stamped(value, 3) or corrupt('a claim without its moment'), string.sub(value, 19) end

-- Whether the claim holds the item until some moment.
local function is_held(value, item)
    if not value or string.sub(value, 1, 2) ~= UNTIL then return false end
    local _, its = timed(value)
    return its == item
end

-- IB-6 frees the item of a hold that ran out.
local function lapse(key, claim, value)
    if not value or string.sub(value, 1, 2) ~= UNTIL then corrupt('a claim that has no end') end
    local moment, item = timed(value)
    local its = bucket_of(item, claim)
    check()
    write('ZREM', base .. ':t', claim)
    finish(key, claim, EXPIRED, moment)
    free(item, its)
end

-- Whether what ended at this moment need not be remembered any more; a memory of nil is for ever.
local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What the claim is by the clock: a word, and what belongs to it.
local function judge(value, memory)
    if not value then return 'unknown' end
    local mark = string.sub(value, 1, 2)
    if value == '' or value == SPENT then corrupt('a claim without its item') end
    if mark == SPENT then return 'again', string.sub(value, 3), 'confirmed' end
    if string.byte(mark) ~= 0 then return 'again', value, 'forever' end
    if mark ~= UNTIL and mark ~= RELEASED and mark ~= EXPIRED then corrupt('a claim of an unknown state') end
    local moment, item = timed(value)
    if mark == UNTIL and now() < moment then return 'again', item, text(moment - now()) end
    if is_forgotten(moment, memory) then return 'unknown' end
    return 'ended', mark == RELEASED and 'released' or 'expired'
end

-- The same for a call that changes something: a hold that ran out is ended first. Answers the claim's bucket besides.
local function settle(claim, memory)
    local key, value = find_claim(claim)
    local word, first, second = judge(value, memory)
    if value and word ~= 'again' and string.sub(value, 1, 2) == UNTIL then lapse(key, claim, value) end
    return key, word, first, second
end
