
-- Checks a whole sorted set, one part per call, and repairs steps that an older version left half done.
-- ARGV the set; the member after which, or the score from which, to begin; how many members of that score to skip
-- Returns how many were repaired, 'more' or '', then the last two arguments for the next call
local zset, from, passed = base .. ':' .. ARGV[1], ARGV[2], tonumber(ARGV[3]) or 0
local LOOKS, mended = 200, 0

local function mend(...)
    write(...)
    mended = mended + 1
end

-- Visits the members in the order of their bytes. All scores must be the same.
local function walk_names(look)
    local names = redis.call('ZRANGEBYLEX', zset, from == '' and '-' or '(' .. from, '+', 'LIMIT', 0, LOOKS)
    for _, name in ipairs(names) do look(name) end
    return { text(mended), #names == LOOKS and 'more' or '', names[#names] or '', '0' }
end

-- Visits the members ordered by score. `look` returns whether the member is removed.
local function walk_scores(look)
    local min = from == '' and '-inf' or from
    local found = redis.call('ZRANGEBYSCORE', zset, min, '+inf', 'WITHSCORES', 'LIMIT', passed, LOOKS)
    for i = 1, #found, 2 do
        if found[i + 1] ~= from then from, passed = found[i + 1], 0 end
        if not look(found[i]) then passed = passed + 1 end
    end
    return { text(mended), #found == 2 * LOOKS and 'more' or '', from, text(passed) }
end

