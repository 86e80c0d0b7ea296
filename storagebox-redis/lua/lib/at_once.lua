-- Most takes are by a claim that is not known, while an item lies ready: they end here, before the rest is made ready.
local claim, hold, memory = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = base .. ':c:' .. ARGV[2]

local function examined(entry)
    local item, its = unqueued(entry)
    if hold then redis.call('ZCOUNT', base .. ':t', 1, 0) end
    return redis.call('HGET', its, item), item, its
end

-- The first of the queue: LOOK, or an entry with the state of its item, the item and its bucket. One whose item is not what
-- the queue says goes back there.
local function pop(looks)
    local before = wrote
    local entry = write('LPOP', base .. ':f')
    if entry and entry ~= LOOK then
        local is_read, state, item, its = pcall(examined, entry)
        if is_read and (state == '' or looks and state == QUEUED) then return entry, state, item, its end
        write('LPUSH', base .. ':f', entry)
        wrote = before
        corrupt('an entry of the queue whose item is not free')
    end
    wrote = before
    return entry
end

local function give(item, its)
    write('HSET', its, item, claim)
    if hold then
        write('HSET', key, claim, UNTIL .. stamp(now() + hold) .. item)
        write('ZADD', base .. ':t', text(now() + hold), claim)
    else
        write('HSET', key, claim, item)
    end
    return { 'new', item }
end

local first, state, item, its
if not redis.call('HGET', key, claim) then first, state, item, its = pop(false) end
if state then return give(item, its) end

