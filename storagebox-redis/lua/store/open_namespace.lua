-- S-3, S-4 how the namespace was created, which is by this call if it is the first. A namespace that was made before and is gone is not made again: what
-- was in it would be given again. Where the store is on the same node, it is looked at in the same step: nothing of an epoch
-- that is over is made in the next one.
-- KEYS the namespace; ARGV options, keeps or '' (what upkeep goes by), epoch of the store, '1' if the namespace was made in
-- it or '', the store or '' (on a cluster, which may have it elsewhere)
-- the options of the namespace, its epoch or '', each '' if it is gone
if ARGV[5] ~= '' and redis.call('HGET', ARGV[5], 'epoch') ~= ARGV[3] then
    error({ err = 'EPOCH the store is not of the epoch that was opened' })
end
local known = redis.call('HMGET', KEYS[1], 'options', 'epoch')
-- Options alone are what an older version left of a creation that was refused half-way: nothing is in it.
local is_begun = known[1] and not known[2] and redis.call('HLEN', KEYS[1]) == 1
local is_new = ARGV[4] == '' and (not known[1] or is_begun)
if is_new then
    write('HSET', KEYS[1], 'options', ARGV[1], 'keeps', ARGV[2], 'epoch', ARGV[3], 'sound', '1')
    return { ARGV[1], ARGV[3] }
end
if known[2] and not known[1] then corrupt('a namespace that does not say how it was created') end
return { known[1] or '', known[2] or '' }
