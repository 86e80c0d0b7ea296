-- The server's clock in microseconds since 1970: the only one that decides (contract, principle 4). Exact in a double until 2255.
-- It is asked once, and only where the answer depends on it.
local moment
local function now()
    if not moment then
        local time = redis.call('TIME')
        moment = time[1] * 1000000 + time[2] + MOVED
    end
    return moment
end
