-- Most takes are by a claim that is not known, while an item lies ready: they end here, before the rest is made ready.
local claim, hold, memory = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = base .. ':c:' .. ARGV[2]

local function give(item, its)
    redis.call('HSET', its, item, claim)
    if hold then
        redis.call('HSET', key, claim, UNTIL .. stamp(now() + hold) .. item)
        redis.call('ZADD', base .. ':t', text(now() + hold), claim)
    else
        redis.call('HSET', key, claim, item)
    end
    return { 'new', item }
end

local first = not redis.call('HGET', key, claim) and redis.call('LPOP', base .. ':f')
if first and first ~= LOOK then return give(unqueued(first)) end

