-- D-5 The same operation gets the same lease until the lease lapses. Then any operation begins a new lease with a
-- greater fence. D-6 Another fingerprint is a 'mismatch'. The fingerprint of a lapsed lease counts while operations are
-- remembered, and the next lease inherits it. D-7 An ended operation is 'fenced'.
-- ARGV id, op, duration, fingerprint or '', memory or ''
-- Returns started fence | in flight remaining | done version value | mismatch | fenced
local op, duration, print, memory = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local known = record(op, memory)
if known.ended then return { 'fenced' } end
local kept = known.state and known.print
if known.state == 'L' and is_forgotten(tonumber(known.till), memory) then kept = false end
if print ~= '' and kept and kept ~= print then return { 'mismatch' } end
if known.state == 'D' then return { 'done', known.version, value() } end
if known.state == 'L' and now() < tonumber(known.till) then
    if known.op == op then return { 'started', known.fence } end
    return { 'in flight', text(known.till - now()) }
end
check_due()
local fence = next_number()
local lease = { 's', 'L', 'o', op, 'u', text(now() + duration), 'f', fence }
local function also(field, text)
    lease[#lease + 1] = field
    lease[#lease + 1] = text
end
if kept then
    also('m', known.fence)
else
    if known.print then write('HDEL', key, 'p', 'm') end
    if print ~= '' then also('p', print) end
end
write('HSET', key, unpack(lease))
if memory then look_at(id, now() + duration + memory) end
return { 'started', fence }
