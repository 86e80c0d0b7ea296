-- Takes one message: the first whose lease has ended, or else the first whose pause is over, or else a new message.
-- KEYS: the stream, the pauses, the lone runs. ARGV: the group, the consumer, the lease in milliseconds, where to begin to
-- look for ended leases or nothing, 1 to take a new message before one whose pause is over. Returns the message, or false
-- if there is none, and where the search for ended leases goes on, or false if it is at its end. A message is the id of
-- the entry, the number of its deliveries, its fields, and the number of its lone runs if its lease had ended, or else
-- false.
local stream, pauses, runs = KEYS[1], KEYS[2], KEYS[3]
local group, consumer, lease, from, new_first = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'

demand('ZREM', pauses, '0-0')
demand('XCLAIM', stream, group, consumer, 0, '0-0')
demand('XPENDING', stream, group, '0-0', '0-0', 1)
demand('XACK', stream, group, '0-0')
demand('HDEL', runs, '0-0')
demand('HGET', runs, '0-0')

-- The maximum number of pauses, and of ended leases, that one call reads.
local MOST = 100

-- Takes an entry. Forgets an entry that was deleted from the stream, and returns false.
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

-- Takes the first entry whose lease has ended. Returns the entry, or false, and where the search goes on. An entry that
-- pauses has no lease: `JUSTID` resets its idle time without counting a delivery, so that the next searches do not find
-- it.
local function lapsed()
    local idle = redis.call('XPENDING', stream, group, 'IDLE', lease, from, '+', MOST)
    for _, pending in ipairs(idle) do
        local id = pending[1]
        local taken = false
        if redis.call('ZSCORE', pauses, id) then
            redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
        else
            taken = claim(id)
        end
        if taken then
            taken[4] = tonumber(redis.call('HGET', runs, id) or 0)
            return taken, '(' .. id
        end
    end
    return false, #idle == MOST and '(' .. idle[MOST][1]
end

local function new()
    local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', 1, 'STREAMS', stream, '>')
    if not read then return false end
    local entry = read[1][2][1]
    return { entry[1], 1, entry[2], false }
end

local taken, rest = false, false
if from ~= '' then taken, rest = lapsed() end
taken = taken or (new_first and new()) or paused() or new()
return { taken, rest }
