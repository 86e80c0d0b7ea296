-- S-2 Forgets tokens that have been gone for longer than they are remembered.
-- ARGV limit, memory or ''
-- Returns how many were forgotten, 'more' or ''
local memory = tonumber(ARGV[2])

local function is_over(one) return is_forgotten(stamped(one, 1), memory) end

local function forget(one)
    local token = string.sub(one, 17)
    local its, value = find(buckets, level, token)
    -- The token may have been created again since then.
    if value and string.sub(value, 1, 17) == 'G' .. string.sub(one, 1, 16) then write('HDEL', its, token) end
end

local done, more = sweep('g', FIRST, tonumber(ARGV[1]), is_over, forget)
return { text(done), more and 'more' or '' }
