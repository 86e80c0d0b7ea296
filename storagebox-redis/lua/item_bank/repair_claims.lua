-- Repairs claims whose item does not belong to them: a release, a retirement or a confirmation failed half-way. Also
-- stores the end of each hold in the sorted set of ends.
-- ARGV bucket
-- Returns the next bucket or '', how many were repaired, then the queue entry (since claim) of each ended or untaken
-- claim
local answer = { '', '' }
check()

local function settle_with(item, claim, value, key, void)
    local its, state = find_item(item)
    if not state then corrupt('a claim without its item') end
    if state == claim then
        if string.sub(value, 1, 2) == UNTIL then
            mended = mended + write('ZADD', base .. ':t', 'CH', text(stamped(value, 3)), claim)
        end
        return
    end
    if string.sub(value, 1, 2) ~= SPENT then
        write('ZREM', base .. ':t', claim)
        finish(key, claim, with_calls(void, RELEASED), now())
        mended = mended + 1
    elseif state == RETIRED then
        mend('HDEL', key, claim)
    elseif state == '' then
        mend('HSET', its, item, claim)
    else
        corrupt('a confirmed claim whose item does not name the claim')
    end
end

local function look(claim, stored, key)
    local value, void = without_calls(stored)
    local item = item_of(value)
    if not item then
        answer[#answer + 1] = string.sub(value, 3, 18) .. claim
        return
    end
    settle_with(item, claim, value, key, void)
end

answer[1] = walk(claim_buckets, claim_level, tonumber(ARGV[1]), look)
answer[2] = text(mended)
return answer
