-- Repairs two lists. Removes entries that no longer exist from the list of entries. Removes entities that are in use or
-- gone from the list of entities to forget.
local function is_unused(key, known) return known.version and not known.state and not has_others(key, nil) end

local function look_at_entry(name)
    if entry_of(name) then return end
    mend('ZREM', zset, name)
    local length, at = string.match(name, '^(%d+):()')
    if not length then corrupt('an entry without a name') end
    local key = string.sub(name, at, at + length - 1)
    local known = entity_of(key)
    if not known.since and is_unused(key, known) then rest(key, known.key) end
end

-- An entity that a commit brought back may still be marked as having no state and no entry.
local function look_at_rest(key)
    local its = base .. ':s:' .. key
    local found = redis.call('HMGET', its, 'n', 'v', 't')
    local is_used = found[2] or has_others(key, nil)
    if found[1] and not is_used then
        if not found[3] then mend('HSET', its, 't', text(now())) end
        return false
    end
    if found[3] then write('HDEL', its, 't') end
    mend('ZREM', zset, key)
    return true
end

return ARGV[1] == 'x' and walk_names(look_at_entry) or walk_scores(look_at_rest)
