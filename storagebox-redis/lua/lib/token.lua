-- Tokens, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch that of the store; k how often there had to be more buckets; gf, gl the ends of the queue
--   hash KEYS[1]:k:BUCKET   token -> 'L' live, 'G' since op (no op if it was discarded)
--   list KEYS[1]:g:PIECE    since token: those that are gone, the longest ago first
local head = opened('k', 'gf', 'gl')
local buckets, level, gone = KEYS[1] .. ':k:', level_of(head[2]), queue('g', head[3], head[4])

local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What is known of the token by the clock: nothing, 'L' or 'G' and the operation that ended it; and its bucket.
local function known(token, memory)
    local its, value = find(buckets, level, token)
    if not value or value == 'L' then return value, nil, its end
    local since = string.sub(value, 1, 1) == 'G' and stamped(value, 2) or corrupt('a token of an unknown state')
    if is_forgotten(since, memory) then return false, nil, its end
    return 'G', string.sub(value, 18), its
end

-- The states and the buckets of those that a call names from its second argument on.
local function all_known(memory)
    local states, its = {}, {}
    for i = 2, #ARGV do
        local _
        states[i], _, its[i] = known(ARGV[i], memory)
    end
    return states, its
end

local function put(token, its, value)
    write('HSET', its, token, value)
    grow('k', level, its, hash_of(token))
end

local function finish(token, its, op)
    push(gone, stamp(now()) .. token)
    put(token, its, 'G' .. stamp(now()) .. op)
end
