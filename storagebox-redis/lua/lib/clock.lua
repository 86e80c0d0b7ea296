-- The server's clock in microseconds since 1970: the only one that decides (contract, idea 4). Exact in a double until 2255.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
