-- S-02 frees lapsed holds and forgets claims that ended longer ago than they are remembered.
-- ARGV most, memory or ''
-- how many
local most, memory = tonumber(ARGV[1]), tonumber(ARGV[2])
local done = 0
for _, claim in ipairs(redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', 0, most)) do
    local key = claims_with(claim)
    lapse(key, claim, redis.call('HGET', key, claim))
    done = done + 1
end
while done < most do
    local oldest = redis.call('LINDEX', base .. ':e', 0)
    if not oldest or not is_forgotten(stamped(oldest, 1), memory) then break end
    local claim = string.sub(oldest, 17)
    local key = claims_with(claim)
    local value = redis.call('HGET', key, claim)
    write('LPOP', base .. ':e')
    local since = string.sub(oldest, 1, 16)
    -- A claim that was retired meanwhile may live again.
    if value == RELEASED .. since or value == EXPIRED .. since then write('HDEL', key, claim) end
    done = done + 1
end
return { text(done) }
