-- D-5 the same operation gets the same lease while it lives; one that lapsed is begun anew, by anybody, with a greater fence;
-- D-6 another fingerprint is 'mismatch'; D-7 an operation that is over is 'fenced'.
-- ARGV id, op, duration, fingerprint or '', memory or ''
-- started fence | in flight remaining | done version value | mismatch | fenced
local op, duration, print, memory = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local known = record(op, memory)
if known.ended then return { 'fenced' } end
if known.state == 'D' or known.state == 'L' and now() < tonumber(known.till) then
    if print ~= '' and known.print and known.print ~= print then return { 'mismatch' } end
    if known.state == 'D' then return { 'done', known.version, value() } end
    if known.op == op then return { 'started', known.fence } end
    return { 'in flight', text(known.till - now()) }
end
check_due()
local fence = next_number()
if known.print then write('HDEL', key, 'p') end
write('HSET', key, 's', 'L', 'o', op, 'u', text(now() + duration), 'f', fence)
if print ~= '' then write('HSET', key, 'p', print) end
if memory then look_at(id, now() + duration + memory) end
return { 'started', fence }
