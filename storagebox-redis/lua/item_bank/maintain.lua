-- S-2 Frees the items of lapsed holds, and forgets claims that ended, or whose last call became void while they were
-- unknown, longer ago than that is remembered.
-- ARGV limit, memory or ''
-- Returns how many, 'more' or ''
local most, memory = tonumber(ARGV[1]), tonumber(ARGV[2])
local lapsed = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, most)
for _, claim in ipairs(lapsed) do
    local key, value, _, void = find_claim(claim)
    lapse(key, claim, value, void)
end

local function is_over(ended) return is_forgotten(stamped(ended, 1), memory) end

local function forget(ended)
    local claim, since = string.sub(ended, 17), string.sub(ended, 1, 16)
    local key, value = find_claim(claim)
    -- A claim that was retired meanwhile may live again.
    if is_over_since(value, since) then write('HDEL', key, claim) end
end

local forgotten, more = sweep('e', ENDED_FIRST, most - #lapsed, is_over, forget)
return { text(#lapsed + forgotten), more and 'more' or '' }
