-- The last argument is the epoch of the store that the caller opened, which each of its namespaces has. A namespace that has
-- none or another one is not what the caller knows: everything was lost, or is a copy that was put back. Reads fields of the
-- namespace in the same command: `head` has the epoch, then these.
local epoch, head

local function head_of(key, ...)
    local found = redis.call('HMGET', key, 'epoch', ...)
    if found[1] ~= epoch then error({ err = 'EPOCH ' .. key .. ' is not of the epoch that was opened' }) end
    return found
end

local function opened(...)
    epoch = epoch or table.remove(ARGV)
    head = head_of(KEYS[1], ...)
end
