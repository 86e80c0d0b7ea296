-- A server does not undo what a script wrote before it failed. So each script reads all that it needs before it writes, asks for
-- its rights with its first write, and tells its caller whether it has written anything.
local wrote = false

local function write(...)
    if not is_granted_all then demand_rights() end
    local answer = redis.call(...)
    wrote = true
    return answer
end

-- Ends the script: what it found is not what this library writes.
local function corrupt(what) error({ err = 'CORRUPT ' .. what }) end
