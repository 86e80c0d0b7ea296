-- The keys of an entity namespace, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; n the last version of all entities, so that no version repeats
--   hash KEYS[1]:s:KEY      n version; v the state, which a deleted entity lacks; t since when it has no state and no
--                           entry
--   hash KEYS[1]:m:ENTRY    a the attempts, each length:op, the commit first; x the chosen attempt, if any; c the
--                           content
--   zset KEYS[1]:x          all entries, ordered by their bytes
--   zset KEYS[1]:d          the keys of entities that have no state and no entry, ordered by t
-- ENTRY is length:key message. Entries are separate from entities, so that large content is read only when needed.
opened('n')
local base = KEYS[1]

local function is_forgotten(since, memory) return memory and since + memory <= now() end

local function name_of(key, message) return string.len(key) .. ':' .. key .. message end

-- Returns the entity at this moment. A forgotten entity has no version, but still its `since`.
local function entity_of(key, memory)
    local its = base .. ':s:' .. key
    local found = redis.call('HMGET', its, 'n', 'v', 't')
    local known = { key = its, version = found[1], state = found[2], since = found[3] and tonumber(found[3]) }
    local is_whole = not (known.version or known.state or found[3])
    if tonumber(known.version or '') then is_whole = not found[3] or known.since and not known.state end
    if not is_whole then corrupt('an entity of an unknown state') end
    if known.since and is_forgotten(known.since, memory) then known.version = false end
    return known
end

-- Returns whether the entity has an entry other than this one.
local function has_others(key, name)
    local prefix = name_of(key, '')
    -- No UTF-8 text contains this byte.
    for _, one in ipairs(redis.call('ZRANGEBYLEX', base .. ':x', '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 2)) do
        if one ~= name then return true end
    end
    return false
end

-- Checks the type of the keys that the calls below write to, except entities and entries.
local function check()
    redis.call('ZCOUNT', base .. ':x', 1, 0)
    redis.call('ZCOUNT', base .. ':d', 1, 0)
end

-- Notes that the entity has no state and no entry from now on.
local function rest(key, its)
    write('HSET', its, 't', text(now()))
    write('ZADD', base .. ':d', text(now()), key)
end
