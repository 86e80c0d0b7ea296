-- Claims of a bank: how they end, and what they are by the clock.
local function free(item)
    local at = bucket(item)
    redis.call('HSET', base .. ':i:' .. at, item, '')
    redis.call('RPUSH', base .. ':f', queued(item, at))
end

-- IB-07 the claim is over from this moment on, and remembered so.
local function finish(key, claim, mark, since)
    redis.call('HSET', key, claim, mark .. stamp(since))
    redis.call('RPUSH', base .. ':e', stamp(since) .. claim)
end

-- The end of a hold that has one, and its item.
local function timed(value) return stamped(value, 3), string.sub(value, 19) end

-- IB-06 frees the item of a hold that ran out.
local function lapse(key, claim, value)
    local moment, item = timed(value)
    redis.call('ZREM', base .. ':t', claim)
    finish(key, claim, EXPIRED, moment)
    free(item)
end

-- Whether what ended at this moment need not be remembered any more; a memory of nil is for ever.
local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What the claim is by the clock: a word, and what belongs to it.
local function judge(value, memory)
    if not value then return 'unknown' end
    local mark = string.sub(value, 1, 2)
    if mark == SPENT then return 'again', string.sub(value, 3), 'confirmed' end
    if string.byte(mark) ~= 0 then return 'again', value, 'forever' end
    local moment, item = timed(value)
    if mark == UNTIL and now() < moment then return 'again', item, text(moment - now()) end
    if is_forgotten(moment, memory) then return 'unknown' end
    return 'ended', mark == RELEASED and 'released' or 'expired'
end

-- The same for a call that changes something: a hold that ran out is ended first. Answers the claim's key besides.
local function settle(claim, memory)
    local key = claims_with(claim)
    local value = redis.call('HGET', key, claim)
    local word, first, second = judge(value, memory)
    if value and word ~= 'again' and string.sub(value, 1, 2) == UNTIL then lapse(key, claim, value) end
    return key, word, first, second
end
