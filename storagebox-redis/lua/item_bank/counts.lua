-- IB-10 exact, and at a cost that does not grow with the bank; lapsed holds are free.
-- free, held, spent, withdrawn
local function count(at) return tonumber(head[at + 1] or '0') end
local lapsed = redis.call('ZCOUNT', base .. ':t', '-inf', text(now()))
local free = length_of(free_ones) - count(4)
return { text(free + lapsed), text(count(1) - free - lapsed - count(2) - count(3)), text(count(2)), text(count(3)) }
