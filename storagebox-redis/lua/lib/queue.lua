-- A queue is a series of lists, its pieces, of PIECE entries each: KEYS[1]:NAME:NUMBER. So no piece is so large that
-- moving it to another node stops the server. The namespace's fields NAMEf and NAMEl have the numbers of the first and
-- the last piece; `first` and `last` are the indexes of these fields in `head`.
local PIECE = 2048

local function piece(name, at)
    if head[at] and not tonumber(head[at]) then corrupt('a queue whose number of a piece is no number') end
    return KEYS[1] .. ':' .. name .. ':' .. (head[at] or '0')
end

local function push(name, last, entry)
    if write('RPUSH', piece(name, last), entry) >= PIECE then head[last] = text(write('HINCRBY', KEYS[1], name .. 'l', 1)) end
end
