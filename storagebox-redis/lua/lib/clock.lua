-- Returns the server's time in microseconds since 1970, the only clock that decides (contract, principle 4). It is
-- exact in a double until 2255. It is read once, and only if the answer depends on it.
local moment
local function now()
    if not moment then
        local time = redis.call('TIME')
        moment = time[1] * 1000000 + time[2] + MOVED
    end
    return moment
end
