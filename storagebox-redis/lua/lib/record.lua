-- Records and leases, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]        epoch that of the store; n the last number: versions and fences of all ids, so that none repeats
--   hash KEYS[1]:r:ID   s state 'D' done, 'L' leased; o its operation; u until, or '' for ever; n version; v value; f fence;
--                       p fingerprint; b, m the operation that replaced which version; e:OP since when this operation is over
--   zset KEYS[1]:x      the ids that are done, in the order of their bytes
--   zset KEYS[1]:d      the ids that upkeep must look at, by when
local head = opened('n')
local base, id = KEYS[1], ARGV[1]
local key = base .. ':r:' .. id

-- What the calls below write to is of the right type, and there is a next number.
local function check()
    redis.call('ZCOUNT', base .. ':x', 1, 0)
    redis.call('ZCOUNT', base .. ':d', 1, 0)
    if head[2] and not tonumber(head[2]) then corrupt('a box that does not count') end
end

local function next_number() return text(write('HINCRBY', base, 'n', 1)) end

-- Upkeep looks at the id from then on, or earlier.
local function look_at(one, moment) write('ZADD', base .. ':d', 'LT', text(moment), one) end

local function is_forgotten(since, memory) return memory and since + memory <= now() end

local function vacate(one, its)
    write('HDEL', its, 's', 'o', 'u', 'n', 'v', 'f', 'p', 'b', 'm')
    write('ZREM', base .. ':x', one)
end

-- D-07 leaves the id vacant and fences the operation that had it.
local function finish(one, its, op, memory)
    check()
    vacate(one, its)
    write('HSET', its, 'e:' .. op, stamp(now()))
    if memory then look_at(one, now() + memory) end
end

local function is_past(state, till) return state == 'D' and till ~= '' and tonumber(till) <= now() end

-- A record has a number and maybe an end, a lease an end and a fence, and an id without either nothing.
local function check_state(state, till, version, fence, op)
    local is_whole = not (state or till or version or fence or op)
    if state == 'D' then is_whole = op and (till == '' or tonumber(till)) and tonumber(version) end
    if state == 'L' then is_whole = op and tonumber(till) and tonumber(fence) end
    if not is_whole then corrupt('an id of an unknown state') end
end

-- The record as it is by the clock, for a call that changes something: one whose retention is over is ended first, as of now
-- (D-04). It has no state if there is none. `ended` says whether the operation is over.
local function record(op, memory)
    local found = redis.call('HMGET', key, 's', 'o', 'u', 'n', 'f', 'p', 'b', 'm', 'e:' .. op)
    local known = { state = found[1], op = found[2], till = found[3], version = found[4], fence = found[5],
        print = found[6], replaced_by = found[7], replaced = found[8] }
    check_state(known.state, known.till, known.version, known.fence, known.op)
    if found[9] and not tonumber(found[9]) then corrupt('an operation that is over, without its moment') end
    known.ended = found[9] and not is_forgotten(tonumber(found[9]), memory)
    if is_past(known.state, known.till) then
        finish(id, key, known.op, memory)
        known.state, known.ended = false, known.ended or known.op == op
    end
    return known
end

local function value() return redis.call('HGET', key, 'v') or corrupt('a record without a value') end

-- Puts a result in the place of whatever is there; its version.
local function put(op, payload, retention)
    check()
    local version, till = next_number(), retention and text(now() + retention) or ''
    write('HDEL', key, 'f', 'p', 'b', 'm')
    write('HSET', key, 's', 'D', 'o', op, 'u', till, 'n', version, 'v', payload)
    write('ZADD', base .. ':x', 0, id)
    if retention then look_at(id, now() + retention) end
    return version
end
