-- Tokens, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch that of the store; k how often there had to be more buckets; gf, gl the ends of the queue
--   hash KEYS[1]:k:BUCKET   token -> 'L' live, 'G' since op (no op if it was discarded)
--   list KEYS[1]:g:PIECE    since token: those that are gone, the longest ago first
opened('k', 'gf', 'gl')
local FIRST, LAST = 3, 4
local buckets, level = KEYS[1] .. ':k:', level_of(head[2])

local function is_forgotten(since, memory) return memory and since + memory <= now() end

-- What is known of the token by the clock: nothing, 'L' or 'G' and the operation that ended it; and its bucket.
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
