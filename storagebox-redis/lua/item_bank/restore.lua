-- IB-2, IB-5 Makes withdrawn items free again. All other items stay as they are.
-- ARGV items, each once
-- Returns how many were restored, not withdrawn, unknown
local counts = { queued = 0, withdrawn = 0, others = 0, unknown = 0 }
check_counts()

-- Returns a word for the state of the item, and its bucket.
local function judged(item)
    local its, state = find_item(item)
    if not state then return 'unknown', its end
    if state == QUEUED then return 'queued', its end
    if state == WITHDRAWN then return 'withdrawn', its end
    return 'others', its
end

local words, its = {}, {}
for at, item in ipairs(ARGV) do words[at], its[at] = judged(item) end
for at, item in ipairs(ARGV) do
    counts[words[at]] = counts[words[at]] + 1
    if words[at] == 'queued' then write('HSET', its[at], item, '') end
    if words[at] == 'withdrawn' then free(item, its[at]) end
end
local restored = counts.queued + counts.withdrawn
if restored > 0 then add_to('w', 0 - restored) end
if counts.queued > 0 then add_to('q', 0 - counts.queued) end
return { text(restored), text(counts.others), text(counts.unknown) }
