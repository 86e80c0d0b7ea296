-- S-2 Lists some namespaces. Leaves out names that are entered but not marked as created. These namespaces have no
-- data: their creation is in progress or has failed.
-- KEYS the store; ARGV cursor
-- Returns version, epoch, memory, each or '', the next cursor, then namespaces
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local found = redis.call('SSCAN', KEYS[1] .. ':namespaces', ARGV[1], 'COUNT', 100)
local named, namespaces = found[2], {}
local made = #named > 0 and redis.call('HMGET', KEYS[1] .. ':made', unpack(named)) or {}
for number, namespace in ipairs(named) do
    if made[number] then namespaces[#namespaces + 1] = namespace end
end
return { known[1] or '', known[2] or '', known[3] or '', found[1], unpack(namespaces) }
