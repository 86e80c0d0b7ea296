-- IB-05 what the bank knows, in whatever state, is not changed; IB-02 what it does not know is free now.
-- ARGV items, each once
-- added
local new, items = {}, {}
check_counts()

local function put(item)
    local at = bucket(item)
    if write('HSETNX', base .. ':i:' .. at, item, '') == 0 then return end
    new[#new + 1], items[#items + 1] = queued(item, at), item
    write('SETBIT', base .. ':m', at, 1)
end

-- A bucket that is none keeps all of them out.
for _, item in ipairs(ARGV) do
    local is_put, why = pcall(put, item)
    if not is_put then
        for _, one in ipairs(items) do write('HDEL', items_with(one), one) end
        wrote = false
        error(why)
    end
end
if #new > 0 then
    write('RPUSH', base .. ':f', unpack(new))
    write('HINCRBY', base, 'n', #new)
end
return { text(#new) }
