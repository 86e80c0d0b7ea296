-- S-01 makes the store if there is none; of many that do so at once, the first does.
-- KEYS the store; ARGV version
-- the version that is there now
write('HSETNX', KEYS[1], 'version', ARGV[1])
return { redis.call('HGET', KEYS[1], 'version') }
