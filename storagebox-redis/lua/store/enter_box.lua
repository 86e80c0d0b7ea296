-- S-02 names a box to upkeep before anything is in it. Nothing is written to a store of another version.
-- KEYS the store; ARGV version, box
-- version or ''
local version = redis.call('HGET', KEYS[1], 'version') or ''
if version == ARGV[1] then write('SADD', KEYS[1] .. ':boxes', ARGV[2]) end
return { version }
