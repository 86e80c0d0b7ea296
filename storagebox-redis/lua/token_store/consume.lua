-- T-5 Ends a live token for one operation; an unknown token leaves no trace. T-6 Recognises the winner's retry by its
-- operation.
-- ARGV token, op, memory or ''
-- Returns now | again | gone
local token, op = ARGV[1], ARGV[2]
local state, by, its = known(token, tonumber(ARGV[3]))
if state == 'L' then
    finish(token, its, op)
    return { 'now' }
end
return { state and by == op and 'again' or 'gone' }
