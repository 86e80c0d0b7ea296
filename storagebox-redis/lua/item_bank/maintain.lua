-- S-2 Frees the items of lapsed holds. Forgets ended claims, and unknown claims that only have void calls, when they
-- need not be remembered any more.
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
    -- The claim may have been retired and taken again since then.
    if is_over_since(value, since) then write('HDEL', key, claim) end
end

local forgotten, more = sweep('e', ENDED_FIRST, most - #lapsed, is_over, forget)
return { text(#lapsed + forgotten), more and 'more' or '' }
