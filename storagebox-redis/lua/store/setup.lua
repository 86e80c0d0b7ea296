-- S-01 makes the store if there is none; of many that do so at once, the first does.
-- KEYS the store; ARGV version, epoch
-- version, epoch that are there now
if write('HSETNX', KEYS[1], 'version', ARGV[1]) == 1 then write('HSET', KEYS[1], 'epoch', ARGV[2]) end
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch')
return { known[1], known[2] or '' }
