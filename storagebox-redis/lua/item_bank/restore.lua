-- IB-02, IB-05 withdrawn items are free again; all others are left.
-- ARGV items, each once
-- restored, not withdrawn, unknown
local restored, queued, others, unknown = 0, 0, 0, 0
for _, item in ipairs(ARGV) do
    local its = items_with(item)
    local state = redis.call('HGET', its, item)
    if not state then
        unknown = unknown + 1
    elseif state == QUEUED then
        redis.call('HSET', its, item, '')
        queued = queued + 1
    elseif state == WITHDRAWN then
        free(item)
        restored = restored + 1
    else
        others = others + 1
    end
end
if queued + restored > 0 then
    redis.call('HINCRBY', base, 'w', 0 - queued - restored)
    redis.call('HINCRBY', base, 'q', 0 - queued)
end
return { text(queued + restored), text(others), text(unknown) }
