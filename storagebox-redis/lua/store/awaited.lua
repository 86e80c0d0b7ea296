-- Writes something for `WAIT` to look at, since a repeat of a call may have written nothing. Where there is no such key, the call
-- has not written either, and nothing begins here.
-- KEYS the store or a namespace
if redis.call('HLEN', KEYS[1]) > 0 then write('HSET', KEYS[1], 'wait', '') end
