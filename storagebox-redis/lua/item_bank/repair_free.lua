-- Repairs items that the caller did not find in the queue, unless they were queued since then. Queues free items, and
-- unmarks withdrawn items that are marked as queued.
-- ARGV the last piece of the queue when the reading began, then bucket and item of each such item
-- Returns how many were repaired, how many of them were withdrawn
local pushed, withdrawn = pushed_since('f', tonumber(ARGV[1]), FREE_LAST), 0
check_counts()
for i = 2, #ARGV, 2 do
    local at, item = tonumber(ARGV[i]), ARGV[i + 1]
    local its = item_buckets .. ARGV[i]
    local state = not pushed[queued(item, at)] and redis.call('HGET', its, item)
    if state == '' then
        push('f', FREE_LAST, queued(item, at))
        mended = mended + 1
    elseif state == QUEUED then
        mend('HSET', its, item, WITHDRAWN)
        withdrawn = withdrawn + 1
    end
end
return { text(mended), text(withdrawn) }
