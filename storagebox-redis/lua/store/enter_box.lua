-- S-02 names a box before it is made. Nothing is written to a store of another version.
-- KEYS the store; ARGV version, box
-- version, epoch, memory, each or '', the epoch in which the box was made or ''
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local made = redis.call('HMGET', KEYS[1] .. ':made', ARGV[2])
if known[1] == ARGV[1] then write('SADD', KEYS[1] .. ':boxes', ARGV[2]) end
return { known[1] or '', known[2] or '', known[3] or '', made[1] or '' }
