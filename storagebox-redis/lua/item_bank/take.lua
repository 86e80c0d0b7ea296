-- IB-01, IB-02 the item leaves the free ones and the claim gets it in this one step; IB-03 a claim that is known is answered;
-- IB-04 empty only if nothing is free and no hold has lapsed; IB-07 a claim that ended takes nothing; IB-08 from the end of a list.
-- ARGV claim, its bucket, hold or '', memory or ''
-- new item | again item hold | ended why | empty | more: call again, withdrawn items were in the way
local _, word, one, other = settle(claim, memory)
if word ~= 'unknown' then return { word, one, other } end

local looks = first == LOOK

-- LOOK goes back to the front while anything is left to be looked at.
local function ended(answer)
    if looks and tonumber(redis.call('HGET', base, 'q')) > 0 then redis.call('LPUSH', base .. ':f', LOOK) end
    return answer
end

local function next_queued()
    local entry = redis.call('LPOP', base .. ':f')
    if entry ~= LOOK then return entry end
    looks = true
    return redis.call('LPOP', base .. ':f')
end

local function next_free()
    local entry = next_queued()
    if entry then return entry end
    local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, 1)[1]
    if not lapsed then return nil end
    local its = claims_with(lapsed)
    lapse(its, lapsed, redis.call('HGET', its, lapsed))
    return next_queued()
end

for _ = 1, 1000 do
    local entry = next_free()
    if not entry then return ended({ 'empty' }) end
    local item, its = unqueued(entry)
    if not looks or redis.call('HGET', its, item) == '' then return ended(give(item, its)) end
    redis.call('HSET', its, item, WITHDRAWN)
    redis.call('HINCRBY', base, 'q', -1)
end
return ended({ 'more' })
