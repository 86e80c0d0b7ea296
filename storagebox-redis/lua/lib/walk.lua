
-- Upkeep looks at all that a sorted set has, a piece at a time, and mends what an older version left half done.
-- ARGV the set, after which member or from which score, how many of that score to pass over
-- how many were mended, 'more' or '', then the same two to go on with
local zset, from, passed = base .. ':' .. ARGV[1], ARGV[2], tonumber(ARGV[3]) or 0
local LOOKS, mended = 200, 0

local function mend(...)
    write(...)
    mended = mended + 1
end

-- By bytes, where all scores are the same.
local function walk_names(look)
    local names = redis.call('ZRANGEBYLEX', zset, from == '' and '-' or '(' .. from, '+', 'LIMIT', 0, LOOKS)
    for _, name in ipairs(names) do look(name) end
    return { text(mended), #names == LOOKS and 'more' or '', names[#names] or '', '0' }
end

-- By scores. `look` says whether the member goes.
local function walk_scores(look)
    local min = from == '' and '-inf' or from
    local found = redis.call('ZRANGEBYSCORE', zset, min, '+inf', 'WITHSCORES', 'LIMIT', passed, LOOKS)
    for i = 1, #found, 2 do
        if found[i + 1] ~= from then from, passed = found[i + 1], 0 end
        if not look(found[i]) then passed = passed + 1 end
    end
    return { text(mended), #found == 2 * LOOKS and 'more' or '', from, text(passed) }
end

