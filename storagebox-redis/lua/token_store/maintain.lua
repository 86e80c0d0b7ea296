-- S-02 forgets tokens that went longer ago than they are remembered.
-- ARGV most, memory or ''
-- how many
local most, memory, done = tonumber(ARGV[1]), tonumber(ARGV[2]), 0
while done < most do
    local oldest = redis.call('LINDEX', gone, 0)
    if not oldest or not is_forgotten(stamped(oldest, 1), memory) then break end
    local token = string.sub(oldest, 17)
    local value = redis.call('HGET', tokens, token)
    write('LPOP', gone)
    -- A token that was made anew meanwhile is another one.
    if value and string.sub(value, 1, 17) == 'G' .. string.sub(oldest, 1, 16) then write('HDEL', tokens, token) end
    done = done + 1
end
return { text(done) }
