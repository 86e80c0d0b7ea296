-- S-1 Describes the store, or reports that it is not set up.
-- KEYS the store
-- Returns version, epoch, memory, each or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
return { known[1] or '', known[2] or '', known[3] or '' }
