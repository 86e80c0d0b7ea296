-- IB-10 Lists whole buckets. An item never changes its bucket, so a caller that reads all buckets sees each item once.
-- ARGV bucket, limit
-- Returns the next bucket or '', then bucket, item, state, claim of each
local bits, from, most = redis.call('GET', base .. ':m') or '', tonumber(ARGV[1]), tonumber(ARGV[2])

local function next_bucket(at)
    local byte = string.find(bits, '[^%z]', math.floor(at / 8) + 1)
    while byte do
        for bit = 0, 7 do
            local found = (byte - 1) * 8 + bit
            if found >= at and math.floor(string.byte(bits, byte) / 2 ^ (7 - bit)) % 2 == 1 then return found end
        end
        byte = string.find(bits, '[^%z]', byte + 1)
    end
end

local answer, count, at = { '' }, 0, next_bucket(from)
while at do
    if count >= most then
        answer[1] = text(at)
        return answer
    end
    local entries = redis.call('HGETALL', item_buckets .. at)
    for i = 1, #entries, 2 do
        local state, claim = shown(entries[i + 1])
        for _, field in ipairs({ text(at), entries[i], state, claim }) do answer[#answer + 1] = field end
        count = count + 1
    end
    at = next_bucket(at + 1)
end
return answer
