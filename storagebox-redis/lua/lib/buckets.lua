-- What is known of many names is in buckets: small hashes, found by the name's SHA-1. They take half the memory of one large
-- hash, stay as quick however many names there are, and none is so large that moving it to another node stops the server.
-- There are more of them the more names there are: 16,384 at first; when these are full, eight times as many for names that
-- are new, and so on up to the third time. A name never changes its bucket, so it is looked for in the newest buckets first,
-- then in older ones.
-- A server keeps a hash of twice as many in little memory by default.
local FULL = 256

-- How often there had to be more of these buckets, as a field of the namespace says it.
local function level_of(field)
    if not field then return 0 end
    local level = tonumber(field)
    return level and level >= 0 and level <= 3 and level or corrupt('a namespace of an unknown size')
end

local function number_at(level, hash)
    if level == 0 then return hash % 16384 end
    return 16384 * (8 ^ level - 1) / 7 + hash % (16384 * 8 ^ level)
end

-- The bucket of a name, what it has of it, and the name's hash: nothing and the bucket for what is new if there is none.
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

-- After a name came into this bucket of the newest: if it is full, so are the others. One in 32 is looked at.
local function grow(field, level, key, hash)
    if hash % 524288 >= 16384 or level == 3 then return end
    if redis.call('HLEN', key) >= FULL then write('HSET', KEYS[1], field, text(level + 1)) end
end
