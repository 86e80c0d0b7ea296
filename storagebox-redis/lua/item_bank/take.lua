-- IB-1, IB-2 Gives a free item to the claim in one step; IB-8 the item at the front of a list. IB-3 A known claim gets
-- its state. IB-4 Empty only if nothing is free and no hold has lapsed. IB-7 An ended claim takes nothing. ER-5 A void
-- call takes nothing.
-- ARGV claim, its hash, hold or '', memory or '', call, 'repeated' or ''
-- Returns new item | again item hold | ended why | empty | open | more (the queue began with many withdrawn items: call
-- again)
local call, is_repeated = ARGV[5], ARGV[6] ~= ''
local row, word, one, other = settle(claim, memory)
if word ~= 'unknown' then return { word, one, other } end
if is_void(row.void, call) then return { 'empty' } end

local looks = tonumber(head[5] or 0) or corrupt('a bank whose count of withdrawn items in the queue is no number')

-- Returns the state of a queued item, the item and its bucket. If the item is free, first writes the end of the claim's
-- hold, because that write may be refused.
local function examined(entry)
    local high, middle, low = string.byte(entry, 1, 3)
    local item, its = string.sub(entry, 4), item_buckets .. high * 65536 + middle * 256 + low
    local state = redis.call('HGET', its, item)
    if hold and state == '' then write('ZADD', base .. ':t', text(now() + hold), claim) end
    return state, item, its
end

local function popped(queue) return write('LPOP', queue) end

-- Removes the first entry of the queue. Returns the state of its item, the item and its bucket. Puts the entry back and
-- fails if the item cannot be read or should not be in the queue.
local function pop_item()
    local before = wrote
    local entry = from_front('f', FREE_FIRST, popped)
    if not entry then
        wrote = before
        return nil
    end
    local is_read, state, item, its = pcall(examined, entry)
    if is_read and (state == '' or looks > 0 and state == QUEUED) then return state, item, its end
    write('LPUSH', piece('f', FREE_FIRST), entry)
    wrote = before
    corrupt('an entry of the queue whose item is not free')
end

local function give(item, its)
    write('HSET', its, item, claim)
    write('HSET', row.key, claim, with_calls(row.void, hold and UNTIL .. stamp(now() + hold) .. item or item))
    if not row.value then grow('c', claim_level, row.key, hash) end
    return { 'new', item }
end

local function next_free()
    local state, item, its = pop_item()
    if state then return state, item, its end
    local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, 1)[1]
    if not lapsed then return nil end
    local its_bucket, value, _, void = find_claim(lapsed)
    lapse(its_bucket, lapsed, value, void)
    return pop_item()
end

for _ = 1, 1000 do
    local state, item, its = next_free()
    if not state then return refused('empty', claim, row, call, is_repeated) end
    if state == '' then return give(item, its) end
    write('HSET', its, item, WITHDRAWN)
    add_to('q', -1)
end
-- The client runs the script again. The next run sees what another attempt did in between (ER-5).
return { 'more' }
