-- S-1 tells a store that is not set up.
-- KEYS the store
-- version, epoch, memory, each or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
return { known[1] or '', known[2] or '', known[3] or '' }
