-- A bank, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch that of the store; n items in all, s spent, w withdrawn, q withdrawn and still in the queue
--                           of free ones; i, c how often there had to be more buckets; ff, fl, ef, el the ends of queues;
--                           sound as `repair/begin.lua` has it
--   list KEYS[1]:f:PIECE    the bucket of each free item in three bytes, then the item; also of those that q counts
--   hash KEYS[1]:i:BUCKET   item -> '' free, WITHDRAWN, QUEUED (withdrawn and still queued), RETIRED (spent by a claim that
--                           is forgotten), or the claim that has it
--   hash KEYS[1]:c:BUCKET   claim -> the item that it holds for ever, or a mark: UNTIL moment item, SPENT item,
--                           RELEASED since, EXPIRED since
--   zset KEYS[1]:t          claims by the end of their holds
--   list KEYS[1]:e:PIECE    since claim: those that ended, the longest ago first
--   bits KEYS[1]:m          the buckets of items that are not empty
-- A mark begins with a byte that is in no item and no claim: what is most frequent needs none.
opened('n', 's', 'w', 'q', 'i', 'c', 'ff', 'fl', 'ef', 'el', 'sound')
local FREE_FIRST, FREE_LAST, ENDED_FIRST, ENDED_LAST = 8, 9, 10, 11
local base = KEYS[1]
local WITHDRAWN, QUEUED, RETIRED = '\0W', '\0Q', '\0G'
local UNTIL, SPENT, RELEASED, EXPIRED = '\0T', '\0C', '\0R', '\0E'
local item_buckets, item_level = base .. ':i:', level_of(head[6])
local claim_buckets, claim_level = base .. ':c:', level_of(head[7])

-- Adds to a count. Upkeep that counts the items meanwhile, piece by piece, is told that it must count again.
local function add_to(field, number)
    if head[12] and head[12] ~= '1' then write('HDEL', base, 'sound') end
    write('HINCRBY', base, field, number)
end

local function find_claim(claim, hash) return find(claim_buckets, claim_level, claim, hash) end
local function find_item(item) return find(item_buckets, item_level, item) end

-- An item with its bucket, so that a take need not compute the bucket.
local function queued(item, at)
    return string.char(math.floor(at / 65536), math.floor(at / 256) % 256, at % 256) .. item
end

local function free(item, its)
    write('HSET', its, item, '')
    push('f', FREE_LAST, queued(item, tonumber(string.match(its, '%d+$'))))
end

-- The counts and the queue are such that they can be added to.
local function check_counts()
    for _, at in ipairs({ 2, 4, 5 }) do
        if head[at] and not tonumber(head[at]) then corrupt('a bank that does not count') end
    end
    redis.call('LLEN', piece('f', FREE_LAST))
end
