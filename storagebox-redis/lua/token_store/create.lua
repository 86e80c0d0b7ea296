-- Creates tokens. T-7 A token that is gone stays gone. T-9 A live token is not changed.
-- ARGV memory or '', tokens, each once
-- Returns how many were created, were live before, were gone
local memory, created, live, over = tonumber(ARGV[1]), 0, 0, 0
local states, its, hashes = all_known(memory)
for i = 2, #ARGV do
    local state = states[i]
    if state == 'L' then
        live = live + 1
    elseif state then
        over = over + 1
    else
        write('HSET', its[i], ARGV[i], 'L')
        grow('k', level, its[i], hashes[i])
        created = created + 1
    end
end
return { text(created), text(live), text(over) }
