-- D-7 ends the lease that is held and fences its operation; one that is not held any more is left as it is.
-- D-6 the fingerprint that it inherited from a lapsed lease stays.
-- ARGV id, op, fence, memory or ''
-- aborted | fenced
local op, fence, memory = ARGV[2], ARGV[3], tonumber(ARGV[4])
local known = record(op, memory)
if known.state == 'L' and known.fence == fence and known.op == op then
    finish(id, key, op, known.replaced)
    if known.replaced and memory then look_at(id, now() + memory) end
    return { 'aborted' }
end
return { known.ended and 'aborted' or 'fenced' }
