-- Tokens, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]     epoch that of the store
--   hash KEYS[1]:k   token -> 'L' live, 'G' since op (no op if it was discarded)
--   list KEYS[1]:g   since token: those that are gone, the longest ago first
opened()
local tokens, gone = KEYS[1] .. ':k', KEYS[1] .. ':g'

local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What is known of the token by the clock: nothing, 'L' or 'G' and the operation that ended it.
local function known(token, memory)
    local value = redis.call('HGET', tokens, token)
    if not value or value == 'L' then return value end
    local since = string.sub(value, 1, 1) == 'G' and stamped(value, 2) or corrupt('a token of an unknown state')
    if is_forgotten(since, memory) then return false end
    return 'G', string.sub(value, 18)
end

-- The same of each of those that a call names from its second argument on.
local function all_known(memory)
    local states = {}
    for i = 2, #ARGV do states[i] = known(ARGV[i], memory) end
    return states
end

local function finish(token, op)
    write('RPUSH', gone, stamp(now()) .. token)
    write('HSET', tokens, token, 'G' .. stamp(now()) .. op)
end
