-- T-5 one operation ends a live token; no trace is left of an unknown one; T-6 the winner's retry is known by its operation.
-- ARGV token, op, memory or ''
-- now | again | gone
local token, op = ARGV[1], ARGV[2]
local state, by, its = known(token, tonumber(ARGV[3]))
if state == 'L' then
    finish(token, its, op)
    return { 'now' }
end
return { state and by == op and 'again' or 'gone' }
