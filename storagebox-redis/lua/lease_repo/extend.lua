-- D-5 Extends the caller's lease to now plus the duration, even if it has lapsed, and never shortens it. Another lease
-- is 'fenced'.
-- ARGV id, op, fence, duration, memory or ''
-- Returns extended | fenced
local op, fence, duration, memory = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local known = record(nil, memory)
if known.state ~= 'L' or known.fence ~= fence or known.op ~= op then return { 'fenced' } end
write('HSET', key, 'u', text(math.max(tonumber(known.till), now() + duration)))
return { 'extended' }
