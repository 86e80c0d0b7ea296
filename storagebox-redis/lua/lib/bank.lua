-- A bank, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch that of the store; n items in all, s spent, w withdrawn, q withdrawn and still in the queue of free ones
--   list KEYS[1]:f          the bucket of each free item in two bytes, then the item; also of those that q counts, and while
--                           there are any, LOOK is the first of all
--   hash KEYS[1]:i:BUCKET   item -> '' free, WITHDRAWN, QUEUED (withdrawn and still queued), RETIRED (spent by a claim that
--                           is forgotten), or the claim that has it
--   hash KEYS[1]:c:BUCKET   claim -> the item that it holds for ever, or a mark: UNTIL moment item, SPENT item,
--                           RELEASED since, EXPIRED since
--   zset KEYS[1]:t          claims by the end of their holds
--   list KEYS[1]:e          since claim: those that ended, the longest ago first
--   bits KEYS[1]:m          the buckets of items that are not empty
-- Buckets are small hashes, which take half the memory of one large hash, and stay as quick however many items there are.
-- A mark begins with a byte that is in no item and no claim: what is most frequent needs none.
local base, head = KEYS[1], opened('n', 's', 'w', 'q')
local WITHDRAWN, QUEUED, RETIRED = '\0W', '\0Q', '\0G'
local UNTIL, SPENT, RELEASED, EXPIRED = '\0T', '\0C', '\0R', '\0E'
-- No bucket begins with it.
local LOOK = '\255'

local function bucket(name) return tonumber(string.sub(redis.sha1hex(name), 1, 4), 16) % 16384 end
local function claims_with(claim) return base .. ':c:' .. bucket(claim) end
local function items_with(item) return base .. ':i:' .. bucket(item) end

-- An item with its bucket, which whoever takes it need not work out.
local function queued(item, at) return string.char(math.floor(at / 256), at % 256) .. item end
local function unqueued(entry)
    local high, low = string.byte(entry, 1, 2)
    return string.sub(entry, 3), base .. ':i:' .. high * 256 + low
end

-- The counts and the queue are such that they can be added to.
local function check_counts()
    for _, at in ipairs({ 2, 4, 5 }) do
        if head[at] and not tonumber(head[at]) then corrupt('a bank that does not count') end
    end
    redis.call('LLEN', base .. ':f')
end
