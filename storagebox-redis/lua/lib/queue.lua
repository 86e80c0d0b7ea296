-- A queue is a row of pieces, lists that hold PIECE entries each: KEYS[1]:NAME:NUMBER. So no piece is so large that
-- moving it to another node stops the server. Two fields of the namespace, NAMEf and NAMEl, say which piece is the first and which
-- is the last; where they stand in `head` is said by number.
local PIECE = 2048

local function piece(name, at)
    if head[at] and not tonumber(head[at]) then corrupt('a queue without an end') end
    return KEYS[1] .. ':' .. name .. ':' .. (head[at] or '0')
end

local function push(name, last, entry)
    if write('RPUSH', piece(name, last), entry) >= PIECE then head[last] = text(write('HINCRBY', KEYS[1], name .. 'l', 1)) end
end
