-- Items that were in the queue at no time while it was looked through: if nobody queued them since, they are queued, or no longer
-- said to be.
-- ARGV the last piece when that began, then bucket and item of each
-- how many were mended, how many of them were withdrawn
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
