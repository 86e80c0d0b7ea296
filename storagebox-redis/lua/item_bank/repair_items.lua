-- Repairs items whose claim does not have them, and lists buckets that are not listed. Returns the items that must be
-- in the queue; the caller has read the queue before and knows which of them are missing.
-- ARGV bucket
-- Returns the next bucket or '', how many were repaired, how many items, spent, withdrawn, queued; then bucket and item
-- of each item that must be in the queue
local count, answer = { items = 0, spent = 0, withdrawn = 0, queued = 0 }, { '', '', '', '', '', '' }
check()

-- IB-3 Gives the item to the unknown claim that it names: a take of this claim failed half-way, and its retry gets the
-- item.
local function give(item, claim)
    local key, _, hash = find_claim(claim)
    local till = write('ZADD', base .. ':t', 'XX', 'INCR', 0, claim)
    mend('HSET', key, claim, till and UNTIL .. stamp(tonumber(till)) .. item or item)
    grow('c', claim_level, key, hash)
end

local function settle_with(item, claim, its)
    local _, value = find_claim(claim)
    if not value then return give(item, claim) end
    if item_of(value) == item then
        if string.sub(value, 1, 2) == SPENT then count.spent = count.spent + 1 end
        return
    end
    free(item, its)
    mended = mended + 1
end

local function look(item, state, its, at)
    count.items = count.items + 1
    if write('SETBIT', base .. ':m', at, 1) == 0 then mended = mended + 1 end
    if state == WITHDRAWN or state == QUEUED then count.withdrawn = count.withdrawn + 1 end
    if state == RETIRED then count.spent = count.spent + 1 end
    if state == QUEUED then count.queued = count.queued + 1 end
    if state == '' or state == QUEUED then
        answer[#answer + 1], answer[#answer + 2] = at, item
    elseif string.byte(state) ~= 0 then
        settle_with(item, state, its)
    elseif state ~= WITHDRAWN and state ~= RETIRED then
        corrupt('an item of an unknown state')
    end
end

answer[1] = walk(item_buckets, item_level, tonumber(ARGV[1]), look)
answer[2] = text(mended)
for at, name in ipairs({ 'items', 'spent', 'withdrawn', 'queued' }) do answer[at + 2] = text(count[name]) end
return answer
