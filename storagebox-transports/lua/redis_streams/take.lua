-- Takes one message: one whose pause is over, else one whose lease has ended, else a new one.
-- KEYS: the stream, the pauses, the lone runs. ARGV: the group, the consumer, the lease in milliseconds, 1 to look for
-- ended leases. Returns the id of its entry, how often it was handed out, its fields, and the lone runs of one whose lease
-- has ended; false if there is none.
local stream, pauses, runs = KEYS[1], KEYS[2], KEYS[3]
local group, consumer, lease, looks = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'

demand('ZREM', pauses, '0-0')
demand('XCLAIM', stream, group, consumer, 0, '0-0')
demand('XPENDING', stream, group, '0-0', '0-0', 1)
demand('XACK', stream, group, '0-0')
demand('HDEL', runs, '0-0')
demand('HGET', runs, '0-0')

-- The most ended leases that one call looks at.
local MOST = 100

-- An entry that somebody deleted is forgotten.
local function claim(id)
    local entry = redis.call('XCLAIM', stream, group, consumer, 0, id)[1]
    if not entry then
        redis.call('XACK', stream, group, id)
        redis.call('HDEL', runs, id)
        return false
    end
    return { id, redis.call('XPENDING', stream, group, id, id, 1)[1][4], entry[2], false }
end

local function paused()
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', pauses, '-inf', now, 'LIMIT', 0, MOST)) do
        redis.call('ZREM', pauses, id)
        local taken = claim(id)
        if taken then return taken end
    end
    return false
end

-- An entry that pauses has no lease. Claiming it without a count keeps it out of the next looks.
local function lapsed()
    for _, pending in ipairs(redis.call('XPENDING', stream, group, 'IDLE', lease, '-', '+', MOST)) do
        local id = pending[1]
        local taken = false
        if redis.call('ZSCORE', pauses, id) then
            redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
        else
            taken = claim(id)
        end
        if taken then
            taken[4] = tonumber(redis.call('HGET', runs, id) or 0)
            return taken
        end
    end
    return false
end

local function new()
    local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', 1, 'STREAMS', stream, '>')
    if not read then return false end
    local entry = read[1][2][1]
    return { entry[1], 1, entry[2], false }
end

return paused() or (looks and lapsed()) or new()
