-- S-2 Forgets entities that have had no state and no entry for longer than the memory. E-6 Their versions do not recur,
-- because all entities share one count of versions.
-- ARGV limit, memory or ''
-- Returns how many were forgotten, 'more' or ''
local most, memory = tonumber(ARGV[1]), tonumber(ARGV[2])
if not memory then return { '0', '' } end
local keys = redis.call('ZRANGEBYSCORE', base .. ':d', '-inf', text(now() - memory), 'LIMIT', 0, most)
for _, key in ipairs(keys) do
    local known = entity_of(key)
    if not known.since or has_others(key, nil) then corrupt('an entity in use that is listed to be forgotten') end
    write('DEL', known.key)
    write('ZREM', base .. ':d', key)
end
return { text(#keys), #keys == most and 'more' or '' }
