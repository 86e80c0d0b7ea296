-- Writes. A server does not undo what a script wrote before it failed. So each script reads all that it needs before
-- its first write, and checks its rights at its first write. An error says whether the script has written anything.
local wrote = false

local function write(...)
    if not is_granted_all then demand_rights() end
    local answer = redis.call(...)
    wrote = true
    return answer
end

-- Ends the script, because it found data that this library does not write.
local function corrupt(what) error({ err = 'CORRUPT ' .. what }) end
