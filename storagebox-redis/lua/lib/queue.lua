-- A queue is a row of pieces, lists that hold PIECE entries each: KEYS[1]:NAME:NUMBER. So none is so large that whoever moves
-- it to another node stops the server. Two fields of the box say which piece is the first and which is the last.
local PIECE = 2048

local function piece_number(field)
    local number = field and tonumber(field) or not field and 0
    return number or corrupt('a queue without an end')
end

local function queue(name, first, last)
    local one = { name = name, keys = KEYS[1] .. ':' .. name .. ':', first = piece_number(first), last = piece_number(last) }
    if one.first > one.last then corrupt('a queue without an end') end
    return one
end

local function first_piece(its) return its.keys .. text(its.first) end
local function last_piece(its) return its.keys .. text(its.last) end

-- Its pieces can be read, so that they can be added to.
local function check_queue(its) return redis.call('LLEN', last_piece(its)) end

local function has_filled(its, count)
    if count >= PIECE then its.last = write('HINCRBY', KEYS[1], its.name .. 'l', 1) end
end

local function push(its, entry) has_filled(its, write('RPUSH', last_piece(its), entry)) end

local function push_all(its, entries)
    local from = 1
    while from <= #entries do
        local room = math.max(1, PIECE - check_queue(its))
        local to = math.min(#entries, from + room - 1)
        has_filled(its, write('RPUSH', last_piece(its), unpack(entries, from, to)))
        from = to + 1
    end
end

-- Asks the first piece, and the next one where nothing is left of it.
local function from_front(its, ask)
    local found = ask(first_piece(its))
    if found or its.first >= its.last then return found end
    its.first = write('HINCRBY', KEYS[1], its.name .. 'f', 1)
    return ask(first_piece(its)) or its.first < its.last and corrupt('a queue with a hole')
end

local function pop(its)
    return from_front(its, function(piece) return write('LPOP', piece) end)
end

local function put_back(its, entry) write('LPUSH', first_piece(its), entry) end

-- All pieces between the first and the last one are full.
local function length_of(its)
    local first = redis.call('LLEN', first_piece(its))
    if its.first == its.last then return first end
    return first + (its.last - its.first - 1) * PIECE + redis.call('LLEN', last_piece(its))
end

-- Takes as many entries from the front as are over, but no more than so many: how many went, and whether there may be more.
local function sweep(its, most, is_over, forget)
    if most < 1 then return 0, true end
    local entries = from_front(its, function(piece)
        local found = redis.call('LRANGE', piece, 0, most - 1)
        return #found > 0 and found
    end)
    local done = 0
    for _, entry in ipairs(entries or {}) do
        if not is_over(entry) then break end
        forget(entry)
        done = done + 1
    end
    if done > 0 then write('LPOP', first_piece(its), done) end
    return done, entries and done == #entries
end
