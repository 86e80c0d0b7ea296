-- Tokens, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]:k   token -> 'L' live, 'G' since op (no op if it was discarded)
--   list KEYS[1]:g   since token: those that are gone, the longest ago first
local tokens, gone = KEYS[1] .. ':k', KEYS[1] .. ':g'

local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What is known of the token by the clock: nothing, 'L' or 'G' and the operation that ended it.
local function known(token, memory)
    local value = redis.call('HGET', tokens, token)
    if not value or value == 'L' then return value end
    if is_forgotten(stamped(value, 2), memory) then return false end
    return 'G', string.sub(value, 18)
end

local function finish(token, op)
    redis.call('HSET', tokens, token, 'G' .. stamp(now()) .. op)
    redis.call('RPUSH', gone, stamp(now()) .. token)
end
