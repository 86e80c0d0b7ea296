-- S-02 some of the boxes.
-- KEYS the store; ARGV cursor
-- version, epoch, memory, each or '', the next cursor, then boxes
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local found = redis.call('SSCAN', KEYS[1] .. ':boxes', ARGV[1], 'COUNT', 100)
return { known[1] or '', known[2] or '', known[3] or '', found[1], unpack(found[2]) }
