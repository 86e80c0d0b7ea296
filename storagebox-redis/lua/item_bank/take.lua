-- IB-01, IB-02 the item leaves the free ones and the claim gets it in this one step; IB-03 a claim that is known is answered;
-- IB-04 empty only if nothing is free and no hold has lapsed; IB-07 a claim that ended takes nothing; IB-08 from the end of a list.
-- ARGV claim, its bucket, hold or '', memory or ''
-- new item | again item hold | ended why | empty | more: call again, withdrawn items were in the way
local _, word, one, other = settle(claim, memory)
if word ~= 'unknown' then return { word, one, other } end

local looks = false

-- How many in the queue are withdrawn.
local function queued_still()
    return tonumber(redis.call('HGET', base, 'q')) or corrupt('a bank that does not count what is in its queue')
end

local function look()
    looks = true
    queued_still()
end

local function next_queued()
    local entry, state, item, its = pop(looks)
    if entry ~= LOOK then return state, item, its end
    look()
    entry, state, item, its = pop(looks)
    return state, item, its
end

local function next_free()
    local state, item, its = next_queued()
    if state then return state, item, its end
    local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, 1)[1]
    if not lapsed then return nil end
    its = claims_with(lapsed)
    lapse(its, lapsed, redis.call('HGET', its, lapsed))
    return next_queued()
end

local function search()
    if first == LOOK then look() end
    for _ = 1, 1000 do
        local state, item, its = next_free()
        if not state then return { 'empty' } end
        if state == '' then return give(item, its) end
        write('HSET', its, item, WITHDRAWN)
        write('HINCRBY', base, 'q', -1)
    end
    return { 'more' }
end

-- LOOK goes back to the front while anything is left to be looked at, and if the search failed.
local is_over, answer = pcall(search)
if looks and (not is_over or queued_still() > 0) then
    local before = wrote
    write('LPUSH', base .. ':f', LOOK)
    wrote = before
end
return is_over and answer or error(answer)
