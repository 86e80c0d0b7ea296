-- The keys of a bank, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; n number of items, s of spent ones, w of withdrawn ones, q of withdrawn
--                           ones that are still in the queue of free items; i, c levels of the buckets; ff, fl, ef, el
--                           first and last pieces of the queues; sound, as `repair/begin.lua` describes it
--   list KEYS[1]:f:PIECE    the bucket of each free item in three bytes, then the item; also the items that q counts
--   hash KEYS[1]:i:BUCKET   item -> '' free, WITHDRAWN, QUEUED (withdrawn and still queued), RETIRED (spent by a claim
--                           that is forgotten), or the claim that has it
--   hash KEYS[1]:c:BUCKET   claim -> the item that it holds for ever, or a mark: UNTIL moment item, SPENT item,
--                           RELEASED since, EXPIRED since, UNTAKEN since (unknown, with void calls). With void calls,
--                           the value begins with VOID calls;
--   zset KEYS[1]:t          claims by the end of their holds
--   list KEYS[1]:e:PIECE    since claim: the claims that are ended or untaken, the oldest end first
--   bits KEYS[1]:m          the buckets of items that are not empty
-- A mark begins with a byte that no item and no claim contains, so that the most frequent value needs no mark.
opened('n', 's', 'w', 'q', 'i', 'c', 'ff', 'fl', 'ef', 'el', 'sound')
local FREE_FIRST, FREE_LAST, ENDED_FIRST, ENDED_LAST = 8, 9, 10, 11
local base = KEYS[1]
local WITHDRAWN, QUEUED, RETIRED = '\0W', '\0Q', '\0G'
local UNTIL, SPENT, RELEASED, EXPIRED, UNTAKEN, VOID = '\0T', '\0C', '\0R', '\0E', '\0U', '\0V'
local item_buckets, item_level = base .. ':i:', level_of(head[6])
local claim_buckets, claim_level = base .. ':c:', level_of(head[7])

-- Adds to a count. If an upkeep is counting the items piece by piece, makes it count them again.
local function add_to(field, number)
    if head[12] and head[12] ~= '1' then write('HDEL', base, 'sound') end
    write('HINCRBY', base, field, number)
end

-- Returns a claim's value without its void calls, and the void calls.
local function without_calls(value)
    if not value or string.sub(value, 1, 2) ~= VOID then return value, '' end
    local void, rest = string.match(value, '^( [%d -]+ );(.*)$', 3)
    return rest or corrupt('a claim whose void calls cannot be read'), void
end

local function with_calls(void, value)
    if void == '' then return value end
    return VOID .. void .. ';' .. value
end

-- Returns the bucket of a claim, its value there, the claim's hash and its void calls.
local function find_claim(claim, hash)
    local key, stored, its_hash = find(claim_buckets, claim_level, claim, hash)
    local value, void = without_calls(stored)
    return key, value, its_hash, void
end

local function find_item(item) return find(item_buckets, item_level, item) end

-- Returns the queue's entry for an item: its bucket and the item. So a take need not compute the bucket.
local function queued(item, at)
    return string.char(math.floor(at / 65536), math.floor(at / 256) % 256, at % 256) .. item
end

local function free(item, its)
    write('HSET', its, item, '')
    push('f', FREE_LAST, queued(item, tonumber(string.match(its, '%d+$'))))
end

-- Checks that the script can write to the counts and to the queue.
local function check_counts()
    for _, at in ipairs({ 2, 4, 5 }) do
        if head[at] and not tonumber(head[at]) then corrupt('a bank whose counts are no numbers') end
    end
    redis.call('LLEN', piece('f', FREE_LAST))
end
