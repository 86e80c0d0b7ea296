-- IB-01, IB-02 the item leaves the free ones and the claim gets it in this one step; IB-03 a claim that is known is answered;
-- IB-04 empty only if nothing is free and no hold has lapsed; IB-07 a claim that ended takes nothing; IB-08 from the end of a list.
-- ARGV claim, hold or '', memory or ''
-- new item | again item hold | ended why | empty | more: call again, withdrawn items were in the way
local claim, hold, memory = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local key, word, first, second = settle(claim, memory)
if word ~= 'unknown' then return { word, first, second } end

local function next_free()
    local item = redis.call('LPOP', base .. ':f')
    if item then return item end
    local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, 1)[1]
    if not lapsed then return nil end
    local its = claims_with(lapsed)
    lapse(its, lapsed, redis.call('HGET', its, lapsed))
    return redis.call('LPOP', base .. ':f')
end

for _ = 1, 1000 do
    local item = next_free()
    if not item then return { 'empty' } end
    local its = items_with(item)
    if redis.call('HGET', its, item) == '' then
        redis.call('HSET', its, item, claim)
        if hold then
            redis.call('HSET', key, claim, UNTIL .. stamp(now() + hold) .. item)
            redis.call('ZADD', base .. ':t', text(now() + hold), claim)
        else
            redis.call('HSET', key, claim, item)
        end
        return { 'new', item }
    end
    redis.call('HSET', its, item, WITHDRAWN)
    redis.call('HINCRBY', base, 'q', -1)
end
return { 'more' }
