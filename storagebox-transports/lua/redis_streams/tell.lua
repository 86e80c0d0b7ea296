-- Extends or settles a message, or counts its lone run, if the receipt is that of its last delivery.
-- KEYS: the stream, the pauses, the stream of parked messages, the lone runs.
-- ARGV: extend, alone, ack, retry or park; the group, the consumer, the id of the entry, the receipt (the number of its
-- deliveries), and the pause of a retry in milliseconds. Returns 1, or 0 for an outdated receipt.
local stream, pauses, parked, runs = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local what, group, consumer, id, receipt, pause = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])

-- The maximum number of arguments that Lua passes to one command. A message has three fields. An entry of a foreign
-- sender may have more than the maximum. Its parked copy has one field, which holds all of them.
local MOST = 7000

local function kept(fields)
    if #fields <= MOST then return fields end
    return { 'packed', cmsgpack.pack(fields) }
end

local function may_finish()
    demand('XACK', stream, group, id)
    demand('XDEL', stream, id)
    demand('HDEL', runs, id)
end

local function finish()
    redis.call('XACK', stream, group, id)
    redis.call('XDEL', stream, id)
    redis.call('HDEL', runs, id)
end

local pending = redis.call('XPENDING', stream, group, id, id, 1)[1]
if not pending or pending[4] ~= receipt or redis.call('ZSCORE', pauses, id) then
    return 0
end

if what == 'extend' then
    redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
elseif what == 'alone' then
    redis.call('HINCRBY', runs, id, 1)
elseif what == 'retry' then
    demand('HDEL', runs, id)
    demand('ZADD', pauses, 0, id)
    local time = redis.call('TIME')
    redis.call('HDEL', runs, id)
    redis.call('ZADD', pauses, time[1] * 1000 + math.floor(time[2] / 1000) + pause, id)
elseif what == 'park' then
    demand('XADD', parked, '*', '', '')
    may_finish()
    local entry = redis.call('XRANGE', stream, id, id)[1]
    if entry then redis.call('XADD', parked, '*', unpack(kept(entry[2]))) end
    finish()
else
    may_finish()
    finish()
end
return 1
