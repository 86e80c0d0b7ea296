-- Writes something that `WAIT` can wait for, because a repeated call may have written nothing. If the key does not
-- exist, the call has not written either, and this script does not create the key.
-- KEYS the store or a namespace
if redis.call('HLEN', KEYS[1]) > 0 then write('HSET', KEYS[1], 'wait', '') end
