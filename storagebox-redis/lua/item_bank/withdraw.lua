-- IB-2 Withdraws free items, including those of lapsed holds; held and spent items stay.
-- ARGV items, each once
-- Returns how many were withdrawn, already withdrawn, in use, unknown
local counts = { withdrawn = 0, already = 0, used = 0, unknown = 0 }
check_counts()
check()

-- Returns how to count the item, its bucket, and a function to call first. For an item of a lapsed hold, the function
-- ends the hold, which frees the item.
local function judged(item)
    local its, state = find_item(item)
    if not state then return 'unknown' end
    if state == WITHDRAWN or state == QUEUED then return 'already' end
    if state == RETIRED then return 'used' end
    if state == '' then return 'withdrawn', its end
    local key, value, _, void = find_claim(state)
    local word, held = judge(value)
    if word == 'again' and held == item then return 'used' end
    if word == 'again' or not is_held(value, item) then corrupt('an item whose claim does not have it') end
    return 'withdrawn', its, function() lapse(key, state, value, void) end
end

local words, its, ends = {}, {}, {}
for at, item in ipairs(ARGV) do words[at], its[at], ends[at] = judged(item) end
for at, item in ipairs(ARGV) do
    counts[words[at]] = counts[words[at]] + 1
    if ends[at] then ends[at]() end
    if words[at] == 'withdrawn' then write('HSET', its[at], item, QUEUED) end
end
if counts.withdrawn > 0 then
    add_to('w', counts.withdrawn)
    add_to('q', counts.withdrawn)
end
return { text(counts.withdrawn), text(counts.already), text(counts.used), text(counts.unknown) }
