-- IB-02 free items are set aside, those of lapsed holds included; held and spent ones are left.
-- ARGV items, each once
-- withdrawn, already withdrawn, in use, unknown
local counts = { withdrawn = 0, already = 0, used = 0, unknown = 0 }
check_counts()
check()

-- What is to be done about the item; one of a hold that has lapsed is free, once that is ended.
local function judged(its, item)
    local state = redis.call('HGET', its, item)
    if not state then return 'unknown' end
    if state == WITHDRAWN or state == QUEUED then return 'already' end
    if state == RETIRED then return 'used' end
    if state == '' then return 'withdrawn' end
    local key = claims_with(state)
    local value = redis.call('HGET', key, state)
    local word, held = judge(value)
    if word == 'again' and held == item then return 'used' end
    if word == 'again' or not is_held(value, item) then corrupt('an item whose claim does not have it') end
    return 'withdrawn', function() lapse(key, state, value) end
end

local words, ends = {}, {}
for at, item in ipairs(ARGV) do words[at], ends[at] = judged(items_with(item), item) end
for at, item in ipairs(ARGV) do
    counts[words[at]] = counts[words[at]] + 1
    if ends[at] then ends[at]() end
    if words[at] == 'withdrawn' then write('HSET', items_with(item), item, QUEUED) end
end
if counts.withdrawn > 0 then
    write('HINCRBY', base, 'w', counts.withdrawn)
    local first = write('HINCRBY', base, 'q', counts.withdrawn) == counts.withdrawn
    if first then write('LPUSH', base .. ':f', LOOK) end
end
return { text(counts.withdrawn), text(counts.already), text(counts.used), text(counts.unknown) }
