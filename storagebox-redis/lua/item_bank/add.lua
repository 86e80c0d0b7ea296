-- IB-05 what the bank knows, in whatever state, is not changed; IB-02 what it does not know is free now.
-- ARGV items, each once
-- added
local new = {}
for _, item in ipairs(ARGV) do
    local at = bucket(item)
    if redis.call('HSETNX', base .. ':i:' .. at, item, '') == 1 then
        redis.call('SETBIT', base .. ':m', at, 1)
        new[#new + 1] = queued(item, at)
    end
end
if #new > 0 then
    redis.call('RPUSH', base .. ':f', unpack(new))
    redis.call('HINCRBY', base, 'n', #new)
end
return { text(#new) }
