-- IB-10 Counts exactly, at a cost that does not grow with the bank; items of lapsed holds count as free.
-- Returns free, held, spent, withdrawn
local function count(at) return tonumber(head[at + 1] or '0') end
local lapsed = redis.call('ZCOUNT', base .. ':t', '-inf', text(now()))
local function length(at) return redis.call('LLEN', piece('f', at)) end

-- All pieces between the first and the last one are full.
local between = tonumber(head[FREE_LAST] or 0) - tonumber(head[FREE_FIRST] or 0) - 1
local queued = between < 0 and length(FREE_LAST) or length(FREE_FIRST) + between * PIECE + length(FREE_LAST)
local free = queued - count(4)
return { text(free + lapsed), text(count(1) - free - lapsed - count(2) - count(3)), text(count(2)), text(count(3)) }
