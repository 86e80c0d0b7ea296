-- S-2 Marks a namespace as created, before it has any data. From now on, upkeep visits it. If the process that created
-- the namespace died before this step, the next process that opens the namespace marks it.
-- KEYS the store; ARGV version, epoch, namespace
-- Returns version, epoch, memory, each or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
if known[1] == ARGV[1] and known[2] == ARGV[2] then write('HSET', KEYS[1] .. ':made', ARGV[3], ARGV[2]) end
return { known[1] or '', known[2] or '', known[3] or '' }
