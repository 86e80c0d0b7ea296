-- Entities, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch that of the store; n the last version of all entities, so that none repeats
--   hash KEYS[1]:s:KEY      n version; v the state, which a deleted entity lacks; t since when it has neither state nor entry
--   hash KEYS[1]:m:ENTRY    a the attempts, each length:op, the commit first; x the one that is chosen, if one is; c the content
--   zset KEYS[1]:x          all entries, in the order of their bytes
--   zset KEYS[1]:d          the keys of entities that have neither state nor entry, by since when
-- ENTRY is length:key message. An entry stands apart from its entity, so that what is large is read where it is asked for.
opened('n')
local base = KEYS[1]

local function is_forgotten(since, memory) return memory and since + memory <= now() end

local function name_of(key, message) return string.len(key) .. ':' .. key .. message end

-- The entity by the clock: one that is forgotten has no version. `since` is as it stands there.
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

-- Whether the entity has another entry than this one.
local function has_others(key, name)
    local prefix = name_of(key, '')
    -- No text in UTF-8 holds this byte.
    for _, one in ipairs(redis.call('ZRANGEBYLEX', base .. ':x', '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 2)) do
        if one ~= name then return true end
    end
    return false
end

-- What the calls below write to besides entities and entries is of the right type.
local function check()
    redis.call('ZCOUNT', base .. ':x', 1, 0)
    redis.call('ZCOUNT', base .. ':d', 1, 0)
end

-- The entity has neither state nor entry from now on.
local function rest(key, its)
    write('HSET', its, 't', text(now()))
    write('ZADD', base .. ':d', text(now()), key)
end
