-- S-3, S-4 how the namespace was created, which is by this call if it is the first. No write of ours may be refused half-way, so
-- that the rights are looked at before anything else. A namespace that was made before and is gone is not made again: what
-- was in it would be given again. Where the store is on the same node, it is looked at in the same step: nothing of an epoch
-- that is over is made in the next one.
-- KEYS the namespace; ARGV options, keeps or '' (what upkeep goes by), epoch of the store, '1' if the namespace was made in
-- it or '', the store or '' (on a cluster, which may have it elsewhere), commands
-- the options of the namespace, its epoch or '', each '' if it is gone | '', '' and the commands that are not granted

-- Newer servers refuse to look at a command with another number of arguments than it takes.
local function is_granted(command)
    local known, granted
    for _, count in ipairs({ 1, 2, 3, 0 }) do
        known, granted = pcall(redis.acl_check_cmd, command, unpack({ KEYS[1], KEYS[1], KEYS[1] }, 1, count))
        if known then return granted end
    end
    error(granted)
end

local missing = {}
for i = 6, #ARGV do
    if not is_granted(ARGV[i]) then missing[#missing + 1] = ARGV[i] end
end
if #missing > 0 then return { '', '', unpack(missing) } end
if ARGV[5] ~= '' and redis.call('HGET', ARGV[5], 'epoch') ~= ARGV[3] then
    error({ err = 'EPOCH the store is not of the epoch that was opened' })
end
local is_new = ARGV[4] == '' and write('HSETNX', KEYS[1], 'options', ARGV[1]) == 1
if is_new then write('HSET', KEYS[1], 'keeps', ARGV[2], 'epoch', ARGV[3]) end
local known = redis.call('HMGET', KEYS[1], 'options', 'epoch')
if known[2] and not known[1] then corrupt('a namespace that does not say how it was created') end
return { known[1] or '', known[2] or '' }
