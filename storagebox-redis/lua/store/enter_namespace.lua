-- S-2 Enters the name of a namespace before the namespace is created. Enters nothing if the store has another version,
-- or an epoch that the caller does not know.
-- KEYS the store; ARGV version, namespace, epoch or '' from a caller that knows none yet
-- Returns version, epoch, memory, each or '', then the epoch in which the namespace was created or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local made = redis.call('HMGET', KEYS[1] .. ':made', ARGV[2])
local is_its = known[1] == ARGV[1] and (ARGV[3] == '' or known[2] == ARGV[3])
if is_its then write('SADD', KEYS[1] .. ':namespaces', ARGV[2]) end
return { known[1] or '', known[2] or '', known[3] or '', made[1] or '' }
