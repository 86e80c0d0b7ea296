-- S-2 names a namespace before it is made. Nothing is written to a store of another version, nor of another epoch than the
-- one that the caller knows.
-- KEYS the store; ARGV version, namespace, epoch or '' from a caller who knows none yet
-- version, epoch, memory, each or '', the epoch in which the namespace was made or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local made = redis.call('HMGET', KEYS[1] .. ':made', ARGV[2])
local is_its = known[1] == ARGV[1] and (ARGV[3] == '' or known[2] == ARGV[3])
if is_its then write('SADD', KEYS[1] .. ':namespaces', ARGV[2]) end
return { known[1] or '', known[2] or '', known[3] or '', made[1] or '' }
