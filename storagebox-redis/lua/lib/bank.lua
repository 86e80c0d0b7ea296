-- A bank, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            n items in all, s spent, w withdrawn, q withdrawn and still in the queue of free ones
--   list KEYS[1]:f          the free items, and those that q counts
--   hash KEYS[1]:i:BUCKET   item -> '' free, WITHDRAWN, QUEUED (withdrawn and still queued), RETIRED (spent by a claim that
--                           is forgotten), or the claim that has it
--   hash KEYS[1]:c:BUCKET   claim -> the item that it holds for ever, or a mark: UNTIL moment item, SPENT item,
--                           RELEASED since, EXPIRED since
--   zset KEYS[1]:t          claims by the end of their holds
--   list KEYS[1]:e          since claim: those that ended, the longest ago first
--   bits KEYS[1]:m          the buckets of items that are not empty
-- Buckets are small hashes, which take half the memory of one large hash, and stay as quick however many items there are.
-- A mark begins with a byte that is in no item and no claim: what is most frequent needs none.
local base = KEYS[1]
local WITHDRAWN, QUEUED, RETIRED = '\0W', '\0Q', '\0G'
local UNTIL, SPENT, RELEASED, EXPIRED = '\0T', '\0C', '\0R', '\0E'

local function bucket(name) return tonumber(string.sub(redis.sha1hex(name), 1, 4), 16) % 16384 end
local function claims_with(claim) return base .. ':c:' .. bucket(claim) end
local function items_with(item) return base .. ':i:' .. bucket(item) end

local function free(item)
    redis.call('HSET', items_with(item), item, '')
    redis.call('RPUSH', base .. ':f', item)
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
