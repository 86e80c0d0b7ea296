-- S-03, S-04 how the box was created, which is by this call if it is the first. No write of ours may be refused half-way, so
-- that the rights are looked at before anything else.
-- KEYS the box; ARGV options, keeps or '' (what upkeep goes by), epoch of the store, commands
-- the options of the box, its epoch or '' | '', '' and the commands that are not granted
local missing = {}
for i = 4, #ARGV do
    if not redis.acl_check_cmd(ARGV[i], KEYS[1]) then missing[#missing + 1] = ARGV[i] end
end
if #missing > 0 then return { '', '', unpack(missing) } end
if write('HSETNX', KEYS[1], 'options', ARGV[1]) == 1 then write('HSET', KEYS[1], 'keeps', ARGV[2], 'epoch', ARGV[3]) end
local known = redis.call('HMGET', KEYS[1], 'options', 'epoch')
return { known[1], known[2] or '' }
