-- IB-02 free items are set aside, those of lapsed holds included; held and spent ones are left.
-- ARGV items, each once
-- withdrawn, already withdrawn, in use, unknown
local counts = { withdrawn = 0, already = 0, used = 0, unknown = 0 }

local function set_aside(item)
    local its = items_with(item)
    local state = redis.call('HGET', its, item)
    if not state then return 'unknown' end
    if state == WITHDRAWN or state == QUEUED then return 'already' end
    if state == RETIRED then return 'used' end
    if state ~= '' then
        local _, word = settle(state)
        if word == 'again' then return 'used' end
    end
    redis.call('HSET', its, item, QUEUED)
    return 'withdrawn'
end

for _, item in ipairs(ARGV) do
    local word = set_aside(item)
    counts[word] = counts[word] + 1
end
if counts.withdrawn > 0 then
    redis.call('HINCRBY', base, 'w', counts.withdrawn)
    local first = redis.call('HINCRBY', base, 'q', counts.withdrawn) == counts.withdrawn
    if first then redis.call('LPUSH', base .. ':f', LOOK) end
end
return { text(counts.withdrawn), text(counts.already), text(counts.used), text(counts.unknown) }
