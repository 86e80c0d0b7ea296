-- Writes. A server does not undo what a script wrote before it failed, so each script reads all that it needs before it
-- writes, checks its rights at its first write, and tells its caller whether it has written anything.
local wrote = false

local function write(...)
    if not is_granted_all then demand_rights() end
    local answer = redis.call(...)
    wrote = true
    return answer
end

-- Ends the script, because it found data that this library does not write.
local function corrupt(what) error({ err = 'CORRUPT ' .. what }) end
