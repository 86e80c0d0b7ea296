-- S-02 some of the boxes.
-- KEYS the store; ARGV cursor
-- the next cursor, then boxes
local found = redis.call('SSCAN', KEYS[1] .. ':boxes', ARGV[1], 'COUNT', 100)
return { found[1], unpack(found[2]) }
