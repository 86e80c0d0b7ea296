-- IB-02, IB-05 withdrawn items are free again; all others are left.
-- ARGV items, each once
-- restored, not withdrawn, unknown
local counts = { queued = 0, withdrawn = 0, others = 0, unknown = 0 }
check_counts()

local function judged(its, item)
    local state = redis.call('HGET', its, item)
    if not state then return 'unknown' end
    if state == QUEUED then return 'queued' end
    if state == WITHDRAWN then return 'withdrawn' end
    return 'others'
end

local words = {}
for at, item in ipairs(ARGV) do words[at] = judged(items_with(item), item) end
for at, item in ipairs(ARGV) do
    counts[words[at]] = counts[words[at]] + 1
    if words[at] == 'queued' then write('HSET', items_with(item), item, '') end
    if words[at] == 'withdrawn' then free(item) end
end
local restored = counts.queued + counts.withdrawn
if restored > 0 then write('HINCRBY', base, 'w', 0 - restored) end
if counts.queued > 0 and write('HINCRBY', base, 'q', 0 - counts.queued) == 0 then write('LPOP', base .. ':f') end
return { text(restored), text(counts.others), text(counts.unknown) }
