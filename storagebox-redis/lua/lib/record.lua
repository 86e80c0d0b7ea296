-- The keys of a namespace of records and leases, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]            epoch of the store; n the last version or fence of all ids, so that none repeats; e level
--                           of the buckets; gf, gl first and last piece of the queue
--   hash KEYS[1]:r:ID       s state 'D' done, 'L' leased; o its operation; u until, or '' for ever; n version; v value;
--                           f fence; p fingerprint; b, m the operation that replaced a version, and that version. Of a
--                           lease, m is the fence of the lapsed lease whose fingerprint it has; an abort then leaves
--                           the hash, with o ''
--   hash KEYS[1]:e:BUCKET   length:id op -> since when this operation of this id is over
--   list KEYS[1]:g:PIECE    since length:id op: the same operations, the oldest end first
--   zset KEYS[1]:x          the ids that are done, ordered by their bytes
--   zset KEYS[1]:d          the ids that upkeep must examine, ordered by the moment to do so
-- Ended operations are stored apart from the id, so that the hash of an id that is used again and again does not grow.
opened('n', 'e', 'gf', 'gl')
local FIRST, LAST = 4, 5
local base, id = KEYS[1], ARGV[1]
local key = base .. ':r:' .. id
local overs, level = base .. ':e:', level_of(head[3])

-- Check the type of the keys that the calls below write to.
local function check_list() redis.call('ZCOUNT', base .. ':x', 1, 0) end
local function check_due() redis.call('ZCOUNT', base .. ':d', 1, 0) end

local function check_number()
    if head[2] and not tonumber(head[2]) then corrupt('a namespace whose last number is no number') end
end

local function next_number()
    check_number()
    return text(write('HINCRBY', base, 'n', 1))
end

-- Makes upkeep examine the id at this moment, or earlier if that was set before.
local function look_at(one, moment) write('ZADD', base .. ':d', 'LT', text(moment), one) end

local function is_forgotten(since, memory) return memory and since + memory <= now() end

local function name_of(one, op) return string.len(one) .. ':' .. one .. op end

-- Returns the bucket in which the end of the operation is remembered, and since when it is over.
local function find_over(one, op)
    local its, since, hash = find(overs, level, name_of(one, op))
    if since and not tonumber(since) then corrupt('an ended operation without a valid time') end
    return its, since and tonumber(since), hash
end

local function is_ended(op, memory)
    local _, since = find_over(id, op)
    return since and not is_forgotten(since, memory)
end

local function vacate(one, its)
    write('DEL', its)
    write('ZREM', base .. ':x', one)
    write('ZREM', base .. ':d', one)
end

-- D-7 Makes the id vacant and fences the operation that had it. D-6 If `is_kept`, the fingerprint of a lapsed lease
-- stays.
local function finish(one, its, op, is_kept)
    local bucket, _, hash = find_over(one, op)
    check_number()
    check_list()
    check_due()
    redis.call('LLEN', piece('g', LAST))
    if is_kept then write('HSET', its, 'o', '', 'u', text(now())) else vacate(one, its) end
    local name, since = name_of(one, op), stamp(now())
    write('HSET', bucket, name, since)
    push('g', LAST, since .. name)
    grow('e', level, bucket, hash)
end

local function is_past(state, till) return state == 'D' and till ~= '' and tonumber(till) <= now() end

-- Checks the fields of an id. A record has a version and may have an end. A lease has an end and a fence. Any other id
-- has no fields.
local function check_state(state, till, version, fence, op)
    local is_whole = not (state or till or version or fence or op)
    if state == 'D' then is_whole = op and (till == '' or tonumber(till)) and tonumber(version) end
    if state == 'L' then is_whole = op and tonumber(till) and tonumber(fence) end
    if not is_whole then corrupt('an id of an unknown state') end
end

-- Returns the record or lease of the id at this moment, for a call that changes something. First ends a record whose
-- retention is over (D-4). If the id has neither, the state is false. `ended` is whether the operation, if one is
-- named, has ended.
local function record(op, memory)
    local found = redis.call('HMGET', key, 's', 'o', 'u', 'n', 'f', 'p', 'b', 'm')
    local known = { state = found[1], op = found[2], till = found[3], version = found[4], fence = found[5],
        print = found[6], replaced_by = found[7], replaced = found[8] }
    check_state(known.state, known.till, known.version, known.fence, known.op)
    known.ended = op and is_ended(op, memory)
    if is_past(known.state, known.till) then
        finish(id, key, known.op)
        known.state, known.ended = false, known.ended or known.op == op
    end
    return known
end

-- Lists a record that an older version of the library stored but did not list.
local function list_again()
    if #redis.call('ZRANGEBYLEX', base .. ':x', '[' .. id, '[' .. id) == 0 then write('ZADD', base .. ':x', 0, id) end
end

local function value() return redis.call('HGET', key, 'v') or corrupt('a record without a value') end

-- Stores a result, in place of the lease if there is one, and returns its version.
local function put(known, op, payload, retention)
    check_list()
    if retention then check_due() end
    local version, till = next_number(), retention and text(now() + retention) or ''
    if known.state then write('DEL', key) end
    write('HSET', key, 's', 'D', 'o', op, 'u', till, 'n', version, 'v', payload)
    write('ZADD', base .. ':x', 0, id)
    if retention then look_at(id, now() + retention) end
    return version
end
