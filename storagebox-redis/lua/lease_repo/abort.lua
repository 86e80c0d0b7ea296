-- D-7 ends the lease that is held and fences its operation; one that is not held any more is left as it is.
-- ARGV id, op, fence, memory or ''
-- aborted | fenced
local op, fence, memory = ARGV[2], ARGV[3], tonumber(ARGV[4])
local known = record(op, memory)
if known.state == 'L' and known.fence == fence and known.op == op then
    finish(id, key, op)
    return { 'aborted' }
end
return { known.ended and 'aborted' or 'fenced' }
