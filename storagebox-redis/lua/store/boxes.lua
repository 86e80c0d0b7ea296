-- S-02 some of the boxes.
-- KEYS the store; ARGV cursor
-- version or '', epoch or '', the next cursor, then boxes
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch')
local found = redis.call('SSCAN', KEYS[1] .. ':boxes', ARGV[1], 'COUNT', 100)
return { known[1] or '', known[2] or '', found[1], unpack(found[2]) }
