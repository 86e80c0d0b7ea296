-- Writes something for `WAIT` to wait for, since a repeated call may have written nothing. If the key does not exist,
-- the call has not written either, and this script does not create it.
-- KEYS the store or a namespace
if redis.call('HLEN', KEYS[1]) > 0 then write('HSET', KEYS[1], 'wait', '') end
