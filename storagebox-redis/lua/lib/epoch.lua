-- Checks the epoch. The last argument is the epoch of the store that the caller opened; all namespaces of a store have
-- the same epoch. Another epoch, or none, means that the data was lost, or that a copy was restored. The same command
-- reads fields of the namespace: `head` has the epoch, then these fields.
local epoch, head

local function head_of(key, ...)
    local found = redis.call('HMGET', key, 'epoch', ...)
    if found[1] ~= epoch then error({ err = 'EPOCH ' .. key .. ' has another epoch than when it was opened' }) end
    return found
end

local function opened(...)
    epoch = epoch or table.remove(ARGV)
    head = head_of(KEYS[1], ...)
end
