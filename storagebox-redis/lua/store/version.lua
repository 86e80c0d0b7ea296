-- S-01 tells a store that is not set up.
-- KEYS the store
-- version or ''
return { redis.call('HGET', KEYS[1], 'version') or '' }
