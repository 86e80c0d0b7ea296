-- A server does not undo what a script wrote before it failed. So each script reads all that it needs before it writes, and
-- tells its caller whether it has written anything.
local wrote = false

local function write(...)
    local answer = redis.call(...)
    wrote = true
    return answer
end

-- Ends the script: what it found is not what this library writes.
local function corrupt(what) error({ err = 'CORRUPT ' .. what }) end
