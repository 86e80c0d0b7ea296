-- S-02 ends records whose retention is over, and forgets lapsed leases and operations that are over once they need not be
-- remembered.
-- ARGV '', most, memory or ''
-- how many ids lost something, how many were looked at
local most, memory = tonumber(ARGV[2]), tonumber(ARGV[3])

local function earlier(one, other) return not one and other or other and math.min(one, other) or one end

-- Whether anything went, and when to look again.
local function tidy(one, its)
    local fields, known, gone, due = redis.call('HGETALL', its), {}, false, nil
    for i = 1, #fields, 2 do known[fields[i]] = fields[i + 1] end
    check_state(known.s, known.u, known.n, known.f, known.o)
    if is_past(known.s, known.u) then
        finish(one, its, known.o, memory)
        known['e:' .. known.o], known.s, gone = nil, nil, true
        due = memory and now() + memory
    elseif known.s == 'L' and is_forgotten(tonumber(known.u), memory) then
        vacate(one, its)
        known.s, gone = nil, true
    end
    if known.s == 'D' and known.u ~= '' then due = earlier(due, tonumber(known.u)) end
    if known.s == 'L' and memory then due = earlier(due, known.u + memory) end
    for field, since in pairs(known) do
        if string.sub(field, 1, 2) == 'e:' then
            if is_forgotten(tonumber(since), memory) then
                write('HDEL', its, field)
                gone = true
            elseif memory then
                due = earlier(due, since + memory)
            end
        end
    end
    return gone, due
end

local done = 0
local ids = redis.call('ZRANGEBYSCORE', base .. ':d', '-inf', text(now()), 'LIMIT', 0, most)
for _, one in ipairs(ids) do
    local gone, due = tidy(one, base .. ':r:' .. one)
    if gone then done = done + 1 end
    if due then write('ZADD', base .. ':d', text(due), one) else write('ZREM', base .. ':d', one) end
end
return { text(done), text(#ids) }
