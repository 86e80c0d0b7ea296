-- D-7 Ends the lease if the caller holds it, and fences its operation. D-6 A fingerprint that the lease inherited
-- stays.
-- ARGV id, op, fence, memory or ''
-- Returns aborted | fenced
local op, fence, memory = ARGV[2], ARGV[3], tonumber(ARGV[4])
local known = record(op, memory)
if known.state == 'L' and known.fence == fence and known.op == op then
    finish(id, key, op, known.replaced)
    if known.replaced and memory then look_at(id, now() + memory) end
    return { 'aborted' }
end
return { known.ended and 'aborted' or 'fenced' }
