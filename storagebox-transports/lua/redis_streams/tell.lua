-- Says what becomes of a message, if the receipt is still that of its last handing out.
-- KEYS: the stream, the pauses, the parked ones.
-- ARGV: extend, ack, retry or park; the group, the consumer, the id of the entry, how often it had been handed out, and the
-- pause of a retry in milliseconds. Returns 1, or 0 for a receipt that is over.
local stream, pauses, parked = KEYS[1], KEYS[2], KEYS[3]
local what, group, consumer, id, receipt, pause = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])

local function finish()
    redis.call('XACK', stream, group, id)
    redis.call('XDEL', stream, id)
end

local pending = redis.call('XPENDING', stream, group, id, id, 1)[1]
if not pending or pending[4] ~= receipt or redis.call('ZSCORE', pauses, id) then
    return 0
end

if what == 'extend' then
    redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
elseif what == 'retry' then
    local time = redis.call('TIME')
    redis.call('ZADD', pauses, time[1] * 1000 + math.floor(time[2] / 1000) + pause, id)
elseif what == 'park' then
    local entry = redis.call('XRANGE', stream, id, id)[1]
    if entry then redis.call('XADD', parked, '*', unpack(entry[2])) end
    finish()
else
    finish()
end
return 1
