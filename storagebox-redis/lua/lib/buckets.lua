-- Data about many names is in buckets: small hashes, found by the name's SHA-1. They take half the memory of one large
-- hash, stay as fast with any number of names, and none is so large that moving it to another node stops the server.
-- There are 16,384 buckets at level 0. When they are full, the next level has eight times as many, for new names only,
-- up to level 3. A name never changes its bucket, so it is looked up in the newest buckets first and then in older
-- ones. FULL is half the number of entries up to which a server stores a hash compactly by default.
local FULL = 256

-- Returns the level of the newest buckets from a field of the namespace.
local function level_of(field)
    if not field then return 0 end
    local level = tonumber(field)
    return level and level >= 0 and level <= 3 and level or corrupt('a namespace of an unknown size')
end

local function number_at(level, hash)
    if level == 0 then return hash % 16384 end
    return 16384 * (8 ^ level - 1) / 7 + hash % (16384 * 8 ^ level)
end

-- Returns the bucket of a name, its value there and the name's hash. A new name has no value and gets its bucket in the
-- newest level.
local function find(buckets, level, name, hash)
    hash = hash or tonumber(string.sub(redis.sha1hex(name), 1, 6), 16)
    local newest = buckets .. number_at(level, hash)
    local value = redis.call('HGET', newest, name)
    for at = level - 1, 0, -1 do
        if value then break end
        local older = buckets .. number_at(at, hash)
        value = redis.call('HGET', older, name)
        if value then return older, value, hash end
    end
    return newest, value, hash
end

-- Adds a level if the newest buckets are full. Called after a name was added to one of them: if that bucket is full, so
-- are the others. One bucket in 32 is examined.
local function grow(field, level, key, hash)
    if hash % 524288 >= 16384 or level == 3 then return end
    if redis.call('HLEN', key) >= FULL then write('HSET', KEYS[1], field, text(level + 1)) end
end
