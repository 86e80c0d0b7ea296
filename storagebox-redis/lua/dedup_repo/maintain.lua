-- S-2 Ends records whose retention is over. Forgets lapsed leases and ended operations that need not be remembered any
-- more. Each counts as one. Stops after about a mebibyte of values.
-- ARGV '', limit, memory or ''
-- Returns how many, 'more' or ''
local most, memory = tonumber(ARGV[2]), tonumber(ARGV[3])
local bytes = 0

-- Removes the id if it is due, and returns whether it did. Otherwise sets when upkeep must examine it again.
local function tidy(one)
    local its = base .. ':r:' .. one
    local found = redis.call('HMGET', its, 's', 'u', 'n', 'f', 'o')
    check_state(unpack(found))
    local state, till = found[1], found[2]
    local is_lapsed = state == 'L' and is_forgotten(tonumber(till), memory)
    if is_past(state, till) or is_lapsed then
        bytes = bytes + redis.call('HSTRLEN', its, 'v')
        if is_lapsed then vacate(one, its) else finish(one, its, found[5]) end
        return true
    end
    local due = state == 'L' and memory and till + memory or state == 'D' and tonumber(till)
    if due then write('ZADD', base .. ':d', text(due), one) else write('ZREM', base .. ':d', one) end
    return false
end

local ids = redis.call('ZRANGEBYSCORE', base .. ':d', '-inf', text(now()), 'LIMIT', 0, most)
local looked, gone = 0, 0
for _, one in ipairs(ids) do
    if bytes >= 1048576 then break end
    if tidy(one) then gone = gone + 1 end
    looked = looked + 1
end
if looked < #ids or looked == most then return { text(gone), 'more' } end

local function is_over(over) return is_forgotten(stamped(over, 1), memory) end

local function forget(over)
    local name, since = string.sub(over, 17), string.sub(over, 1, 16)
    local its, stands = find(overs, level, name)
    -- An operation that has ended again since then has a later entry.
    if stands == since then write('HDEL', its, name) end
end

local done, more = sweep('g', FIRST, most - looked, is_over, forget)
return { text(gone + done), more and 'more' or '' }
