-- S-02 some of the boxes. One that was named and not made has nothing in it: its maker is on the way, died or was refused.
-- KEYS the store; ARGV cursor
-- version, epoch, memory, each or '', the next cursor, then boxes
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch', 'memory')
local found = redis.call('SSCAN', KEYS[1] .. ':boxes', ARGV[1], 'COUNT', 100)
local named, boxes = found[2], {}
local made = #named > 0 and redis.call('HMGET', KEYS[1] .. ':made', unpack(named)) or {}
for number, box in ipairs(named) do
    if made[number] then boxes[#boxes + 1] = box end
end
return { known[1] or '', known[2] or '', known[3] or '', found[1], unpack(boxes) }
