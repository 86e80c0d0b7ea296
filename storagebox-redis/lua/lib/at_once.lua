-- Fast path of a take for the usual case: the claim is unknown, an item is free and no withdrawn item is in the queue.
-- It skips the rest of the preparation, which would take as long again. In any other case it puts the item back and
-- leaves the call to the rest of the script. Void calls (ER-5) are checked there: a claim with void calls is not
-- unknown here.
local claim, hash, hold, memory = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
opened('q', 'c', 'ff')

-- Returns whether the user has the rights to all commands after the first write here. `write` would check the rights of
-- the whole script, which are more.
local function may_give(is_looked_at)
    local may, key = redis.acl_check_cmd, KEYS[1] .. ':'
    return may('HSET', key, '', '') and may('LPUSH', key, '') and (not hold or may('ZADD', key, '', ''))
        and (not is_looked_at or may('HLEN', key))
end

local function give_at_once()
    local key = KEYS[1] .. ':c:' .. hash % 16384
    if redis.call('HGET', key, claim) then return nil end
    local till, is_looked_at = hold and now() + hold, hash % 524288 < 16384
    if not may_give(is_looked_at) then return nil end
    local queue = KEYS[1] .. ':f:' .. (head[4] or '0')
    local entry = redis.call('LPOP', queue)
    if not entry then return nil end
    local high, middle, low = string.byte(entry, 1, 3)
    local item, its = string.sub(entry, 4), low and KEYS[1] .. ':i:' .. high * 65536 + middle * 256 + low
    local is_free = its and redis.pcall('HGET', its, item) == ''
    -- If the server refuses a command here, the rest of the script repeats it and reports the error.
    local is_noted = is_free and (not hold or type(redis.pcall('ZADD', KEYS[1] .. ':t', text(till), claim)) == 'number')
    if not is_noted then
        redis.call('LPUSH', queue, entry)
        return nil
    end
    wrote, is_granted_all = true, true
    write('HSET', its, item, claim)
    write('HSET', key, claim, hold and '\0T' .. stamp(till) .. item or item)
    if is_looked_at and redis.call('HLEN', key) >= 256 then write('HSET', KEYS[1], 'c', '1') end
    return { 'new', item }
end

local is_usual = not head[3] and (not head[2] or head[2] == '0')
local given = is_usual and give_at_once()
if given then return given end

