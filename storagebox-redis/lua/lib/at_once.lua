-- Most takes are by a claim that is not known, while an item lies ready: they end here, before the rest is made ready.
local claim, hash, hold, memory = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local key, value = find_claim(claim, hash)
local looks = queued_still() > 0

-- The state of the item, which is the claim's for a while if it is free: that is written here, because it may be refused.
local function examined(entry)
    local item, its = unqueued(entry)
    local state = redis.call('HGET', its, item)
    if hold and state == '' then write('ZADD', base .. ':t', text(now() + hold), claim) end
    return state, item, its
end

-- The first of the queue: the state of its item, the item and its bucket. One whose item is not what the queue says goes back
-- there.
local function pop_item()
    local before = wrote
    local entry = pop(free_ones)
    if not entry then
        wrote = before
        return nil
    end
    local is_read, state, item, its = pcall(examined, entry)
    if is_read and (state == '' or looks and state == QUEUED) then return state, item, its end
    put_back(free_ones, entry)
    wrote = before
    corrupt('an entry of the queue whose item is not free')
end

local function give(item, its)
    write('HSET', its, item, claim)
    if hold then
        write('HSET', key, claim, UNTIL .. stamp(now() + hold) .. item)
    else
        write('HSET', key, claim, item)
    end
    grow('c', claim_level, key, hash)
    return { 'new', item }
end

if not value and not looks then
    local state, item, its = pop_item()
    if state then return give(item, its) end
end

