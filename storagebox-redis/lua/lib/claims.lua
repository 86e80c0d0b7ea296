-- Claims of a bank: how they end, and their state at this moment.

-- Checks the type of the keys that the calls below write to, except buckets.
local function check()
    redis.call('LLEN', piece('f', FREE_LAST))
    redis.call('LLEN', piece('e', ENDED_LAST))
    redis.call('ZCOUNT', base .. ':t', 1, 0)
end

-- Returns the bucket of an item that this claim must have.
local function bucket_of(item, claim)
    local its, state = find_item(item)
    if state ~= claim then corrupt('a claim whose item does not name the claim') end
    return its
end

-- IB-7 Ends the claim as of this moment, and remembers it as ended. `mark` begins with the claim's void calls, if any.
local function finish(key, claim, mark, since)
    write('HSET', key, claim, mark .. stamp(since))
    push('e', ENDED_LAST, stamp(since) .. claim)
end

-- Returns the moment in a mark, and the rest of the mark.
local function timed(value) return stamped(value, 3) or corrupt('a claim without its time'), string.sub(value, 19) end

-- Returns whether the claim has a hold with an end on this item.
local function is_held(value, item)
    if not value or string.sub(value, 1, 2) ~= UNTIL then return false end
    local _, its = timed(value)
    return its == item
end

-- Returns whether the claim has been ended or untaken since exactly this moment, which its queue entry names.
local function is_over_since(value, since)
    return value == RELEASED .. since or value == EXPIRED .. since or value == UNTAKEN .. since
end

-- IB-6 Frees the item of a lapsed hold.
local function lapse(key, claim, value, void)
    if not value or string.sub(value, 1, 2) ~= UNTIL then corrupt('a claim that has no end') end
    local moment, item = timed(value)
    local its = bucket_of(item, claim)
    check()
    write('ZREM', base .. ':t', claim)
    finish(key, claim, with_calls(void, EXPIRED), moment)
    free(item, its)
end

-- Returns whether an end at this moment need not be remembered any more. A memory of nil is unlimited.
local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- Returns the state of the claim at this moment: a word, then the details of that state.
local function judge(value, memory)
    if not value then return 'unknown' end
    local mark = string.sub(value, 1, 2)
    if value == '' or value == SPENT then corrupt('a claim without its item') end
    if mark == SPENT then return 'again', string.sub(value, 3), 'confirmed' end
    if string.byte(mark) ~= 0 then return 'again', value, 'forever' end
    local is_timed = mark == UNTIL or mark == RELEASED or mark == EXPIRED or mark == UNTAKEN
    if not is_timed then corrupt('a claim of an unknown state') end
    local moment, item = timed(value)
    if mark == UNTIL and now() < moment then return 'again', item, text(moment - now()) end
    if mark == UNTAKEN or is_forgotten(moment, memory) then return 'unknown' end
    return 'ended', mark == RELEASED and 'released' or 'expired'
end

-- Returns the row of the claim, then what `judge` returns. For calls that change something: ends a lapsed hold first.
local function settle(claim, memory)
    local row = {}
    row.key, row.value, row.hash, row.void = find_claim(claim)
    local value, word, first, second = row.value, judge(row.value, memory)
    row.has_item = word == 'again'
    if value and not row.has_item and string.sub(value, 1, 2) == UNTIL then lapse(row.key, claim, value, row.void) end
    -- ER-5 The void calls of a claim are forgotten with it.
    if value and word == 'unknown' and is_forgotten(timed(value), memory) then row.void = '' end
    return row, word, first, second
end
