-- The front of a queue, where entries are removed.

-- Calls `ask` with the first piece, and with the next piece if the first one is empty.
local function from_front(name, first, ask, ...)
    local found = ask(piece(name, first), ...)
    local ends = tonumber(head[first] or 0) < tonumber(head[first + 1] or 0)
    if found or not ends then return found end
    head[first] = text(write('HINCRBY', KEYS[1], name .. 'f', 1))
    return ask(piece(name, first), ...) or head[first] ~= head[first + 1] and corrupt('a queue with an empty piece')
end

local function entries_of(key, most)
    local found = redis.call('LRANGE', key, 0, most - 1)
    return #found > 0 and found
end

-- Removes entries that are over from the front, at most `most`. Returns their number, and whether there may be more.
local function sweep(name, first, most, is_over, forget)
    if most < 1 then return 0, true end
    local entries = from_front(name, first, entries_of, most)
    local done = 0
    for _, entry in ipairs(entries or {}) do
        if not is_over(entry) then break end
        forget(entry)
        done = done + 1
    end
    if done > 0 then write('LPOP', piece(name, first), done) end
    return done, entries and done == #entries
end
