-- T-6, T-7 Ends tokens without a winner; an unknown token is fenced as well.
-- ARGV memory or '', tokens, each once
-- Returns how many were discarded, were gone before
local memory, discarded, before = tonumber(ARGV[1]), 0, 0
local states, its, hashes = all_known(memory)
for i = 2, #ARGV do
    local state = states[i]
    if state ~= 'G' then finish(ARGV[i], its[i], '') end
    if not state then grow('k', level, its[i], hashes[i]) end
    if state == 'L' then discarded = discarded + 1 else before = before + 1 end
end
return { text(discarded), text(before) }
