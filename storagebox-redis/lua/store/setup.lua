-- S-1 creates the store if it does not exist; of several calls at once, the first one does.
-- KEYS the store; ARGV version, epoch, memory in microseconds or 'forever'
-- version, epoch, memory that are there now
if write('HSETNX', KEYS[1], 'version', ARGV[1]) == 1 then
    write('HSET', KEYS[1], 'epoch', ARGV[2], 'memory', ARGV[3])
end
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
return { known[1], known[2] or '', known[3] or '' }
