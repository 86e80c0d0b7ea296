-- IB-01, IB-02 the item leaves the free ones and the claim gets it in this one step; IB-03 a claim that is known is answered;
-- IB-04 empty only if nothing is free and no hold has lapsed; IB-07 a claim that ended takes nothing; IB-08 from the end of a list.
-- ARGV claim, its hash, hold or '', memory or ''
-- new item | again item hold | ended why | empty | more: call again, withdrawn items were in the way
local _, word, one, other = settle(claim, memory)
if word ~= 'unknown' then return { word, one, other } end

local function next_free()
    local state, item, its = pop_item()
    if state then return state, item, its end
    local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, 1)[1]
    if not lapsed then return nil end
    its, state = find_claim(lapsed)
    lapse(its, lapsed, state)
    return pop_item()
end

for _ = 1, 1000 do
    local state, item, its = next_free()
    if not state then return { 'empty' } end
    if state == '' then return give(item, its) end
    write('HSET', its, item, WITHDRAWN)
    write('HINCRBY', base, 'q', -1)
end
return { 'more' }
