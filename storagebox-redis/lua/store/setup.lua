-- S-1 Creates the store if it does not exist. Of several concurrent calls, the first creates it.
-- KEYS the store; ARGV version, epoch, memory in microseconds or 'forever'
-- Returns version, epoch, memory of the store that exists now
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
-- A version without an epoch is what an older version of the library wrote before its setup failed. The store has no
-- data.
local is_begun = known[1] == ARGV[1] and redis.call('HLEN', KEYS[1]) == 1 and redis.call('HLEN', KEYS[1] .. ':made') == 0
if not known[1] or is_begun then
    write('HSET', KEYS[1], 'version', ARGV[1], 'epoch', ARGV[2], 'memory', ARGV[3])
    return ARGV
end
return { known[1], known[2] or '', known[3] or '' }
