-- S-3, S-4 Creates the namespace, unless it was created before. A namespace that was created before and is gone is not
-- created again, because its items would be given again. If the store is on the same node, its epoch is checked in the
-- same step, so that no namespace of an old epoch is created in a store with a new epoch.
-- ARGV options; the retention for upkeep or ''; epoch of the store; '1' if the namespace was created in this epoch or
-- ''; the key of the store, or '' on a cluster, where the store may be on another node
-- Returns the options with which the namespace was created and its epoch, each '' if it is gone
if ARGV[5] ~= '' and redis.call('HGET', ARGV[5], 'epoch') ~= ARGV[3] then
    error({ err = 'EPOCH the store has another epoch than when it was opened' })
end
local known = redis.call('HMGET', KEYS[1], 'options', 'epoch')
-- Options without an epoch are what an older version of the library wrote before its creation of the namespace failed.
-- The namespace has no data.
local is_begun = known[1] and not known[2] and redis.call('HLEN', KEYS[1]) == 1
local is_new = ARGV[4] == '' and (not known[1] or is_begun)
if is_new then
    write('HSET', KEYS[1], 'options', ARGV[1], 'keeps', ARGV[2], 'epoch', ARGV[3], 'sound', '1')
    return { ARGV[1], ARGV[3] }
end
if known[2] and not known[1] then corrupt('a namespace without its options') end
return { known[1] or '', known[2] or '' }
