-- A bank, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            n items in all, s spent, w withdrawn, q withdrawn and still in the queue of free ones
--   list KEYS[1]:f          the free items, and those that q counts
--   hash KEYS[1]:i:BUCKET   item -> '' free, 'W' withdrawn, 'Q' the same and still queued, 'H' claim, 'S' spent by a claim
--                           that is forgotten
--   hash KEYS[1]:c:BUCKET   claim -> 'F' item (held for ever), 'T' until item, 'C' item (spent), 'R' since (released),
--                           'E' since (expired)
--   zset KEYS[1]:t          claims by the end of their holds
--   list KEYS[1]:e          since claim: those that ended, the longest ago first
--   bits KEYS[1]:m          the buckets of items that are not empty
-- Buckets are small hashes, which take half the memory of one large hash, and stay as quick however many items there are.
local base = KEYS[1]

local function bucket(name) return tonumber(string.sub(redis.sha1hex(name), 1, 4), 16) % 16384 end
local function claims_with(claim) return base .. ':c:' .. bucket(claim) end
local function items_with(item) return base .. ':i:' .. bucket(item) end

local function free(item)
    redis.call('HSET', items_with(item), item, '')
    redis.call('RPUSH', base .. ':f', item)
end

-- IB-07 the claim is over from this moment on, and remembered so.
local function finish(key, claim, kind, since)
    redis.call('HSET', key, claim, kind .. stamp(since))
    redis.call('RPUSH', base .. ':e', stamp(since) .. claim)
end

-- IB-06 frees the item of a hold that ran out.
local function lapse(key, claim, value)
    redis.call('ZREM', base .. ':t', claim)
    finish(key, claim, 'E', stamped(value, 2))
    free(string.sub(value, 18))
end

-- Whether what ended at this moment need not be remembered any more; a memory of nil is for ever.
local function is_forgotten(since, memory) return memory and since + memory <= now end

-- What the claim is by the clock: a word, and what belongs to it.
local function judge(claim, value, memory)
    if not value then return 'unknown' end
    local kind = string.sub(value, 1, 1)
    if kind == 'F' then return 'again', string.sub(value, 2), 'forever' end
    if kind == 'C' then return 'again', string.sub(value, 2), 'confirmed' end
    local moment = stamped(value, 2)
    if kind == 'T' and now < moment then return 'again', string.sub(value, 18), text(moment - now) end
    if is_forgotten(moment, memory) then return 'unknown' end
    return 'ended', kind == 'R' and 'released' or 'expired'
end

-- The same for a call that changes something: a hold that ran out is ended first. Answers the claim's key besides.
local function settle(claim, memory)
    local key = claims_with(claim)
    local value = redis.call('HGET', key, claim)
    local word, first, second = judge(claim, value, memory)
    if value and word ~= 'again' and string.sub(value, 1, 1) == 'T' then lapse(key, claim, value) end
    return key, word, first, second
end
