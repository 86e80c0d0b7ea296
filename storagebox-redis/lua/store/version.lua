-- S-01 tells a store that is not set up.
-- KEYS the store
-- version or '', epoch or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch')
return { known[1] or '', known[2] or '' }
