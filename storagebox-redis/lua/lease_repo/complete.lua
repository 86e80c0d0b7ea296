-- D-5 Completes the caller's lease, even if it has lapsed, but no other lease. A retry gets the stored result.
-- ARGV id, op, fence, result, retention or '', memory or ''
-- Returns completed version | again version value | fenced
local op, fence, payload, retention, memory = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local known = record(nil, memory)
if known.state == 'D' and known.fence == fence then return { 'again', known.version, value() } end
if known.state ~= 'L' or known.fence ~= fence or known.op ~= op then return { 'fenced' } end
local version = put(known, op, payload, retention)
write('HSET', key, 'f', fence)
if known.print then write('HSET', key, 'p', known.print) end
return { 'completed', version }
