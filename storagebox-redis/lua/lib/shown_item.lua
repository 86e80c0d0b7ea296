
-- Returns an item's state as a word, and the claim that has it.
local function shown(state)
    if state == '' then return 'free', '' end
    if state == WITHDRAWN or state == QUEUED then return 'withdrawn', '' end
    if state == RETIRED then return 'spent', '' end
    local _, value = find_claim(state)
    local word, _, left = judge(value)
    if word == 'unknown' then corrupt('an item whose claim does not exist') end
    if word ~= 'again' then return 'free', '' end
    return left == 'confirmed' and 'spent' or 'held', state
end
