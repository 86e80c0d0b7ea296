-- What is known of many names is in buckets: small hashes, found by the name's SHA-1. They take half the memory of one large
-- hash, stay as quick however many names there are, and none is so large that whoever moves it to another node stops the server.
-- There are more of them the more names there are: 16,384 at first; when these are full, eight times as many for names that
-- are new, and so on. A name never changes its bucket, so it is looked for in the newest buckets first, then in older ones.
local SIZES, STARTS = { 16384, 131072, 1048576, 8388608 }, { 0, 16384, 147456, 1196032 }
-- A server keeps a hash of twice as many in little memory unless it is told otherwise.
local FULL = 256

local function hash_of(name) return tonumber(string.sub(redis.sha1hex(name), 1, 6), 16) end

-- How often there had to be more of these buckets, as a field of the box says it.
local function level_of(field)
    local level = field and tonumber(field) or not field and 0
    if not SIZES[(level or -1) + 1] then corrupt('a box of an unknown size') end
    return level
end

local function number_at(level, hash) return STARTS[level + 1] + hash % SIZES[level + 1] end

-- The bucket of a name, and what it has of it: nothing and the bucket for what is new if there is none.
local function find(buckets, level, name, hash)
    hash = hash or hash_of(name)
    for at = level, 0, -1 do
        local key = buckets .. number_at(at, hash)
        local value = redis.call('HGET', key, name)
        if value then return key, value end
    end
    return buckets .. number_at(level, hash), false
end

-- After a name came into this bucket of the newest: if it is full, so are the others. One in 32 is looked at.
local function grow(field, level, key, hash)
    if math.floor(hash / SIZES[1]) % 32 ~= 0 or not SIZES[level + 2] then return end
    if redis.call('HLEN', key) >= FULL then write('HSET', KEYS[1], field, text(level + 1)) end
end
