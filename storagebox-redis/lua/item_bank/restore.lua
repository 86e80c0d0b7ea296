-- IB-02, IB-05 withdrawn items are free again; all others are left.
-- ARGV items, each once
-- restored, not withdrawn, unknown
local restored, in_queue, others, unknown = 0, 0, 0, 0
for _, item in ipairs(ARGV) do
    local its = items_with(item)
    local state = redis.call('HGET', its, item)
    if not state then
        unknown = unknown + 1
    elseif state == QUEUED then
        redis.call('HSET', its, item, '')
        in_queue = in_queue + 1
    elseif state == WITHDRAWN then
        free(item)
        restored = restored + 1
    else
        others = others + 1
    end
end
if in_queue + restored > 0 then redis.call('HINCRBY', base, 'w', 0 - in_queue - restored) end
if in_queue > 0 and redis.call('HINCRBY', base, 'q', 0 - in_queue) == 0 then redis.call('LPOP', base .. ':f') end
return { text(in_queue + restored), text(others), text(unknown) }
