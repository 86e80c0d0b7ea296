-- The keys of a token namespace, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; k level of the buckets; gf, gl first and last piece of the queue
--   hash KEYS[1]:k:BUCKET   token -> 'L' live, 'G' since op (no op if it was discarded)
--   list KEYS[1]:g:PIECE    since token: the tokens that are gone, the oldest end first
opened('k', 'gf', 'gl')
local FIRST, LAST = 3, 4
local buckets, level = KEYS[1] .. ':k:', level_of(head[2])

local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- Returns the state of the token at this moment (false, 'L', or 'G' with the operation that ended it) and its bucket.
local function known(token, memory)
    local its, value, hash = find(buckets, level, token)
    if not value or value == 'L' then return value, nil, its, hash end
    local since = string.sub(value, 1, 1) == 'G' and stamped(value, 2) or corrupt('a token of an unknown state')
    if is_forgotten(since, memory) then return false, nil, its, hash end
    return 'G', string.sub(value, 18), its, hash
end

local function finish(token, its, op)
    push('g', LAST, stamp(now()) .. token)
    write('HSET', its, token, 'G' .. stamp(now()) .. op)
end
