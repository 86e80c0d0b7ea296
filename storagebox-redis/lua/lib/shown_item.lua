
-- An item's state as a word, and the claim that has it.
local function shown(state)
    local kind = string.sub(state, 1, 1)
    if kind == '' then return 'free', '' end
    if kind == 'W' or kind == 'Q' then return 'withdrawn', '' end
    if kind == 'S' then return 'spent', '' end
    local claim = string.sub(state, 2)
    local held = redis.call('HGET', claims_with(claim), claim)
    if string.sub(held, 1, 1) == 'C' then return 'spent', claim end
    if string.sub(held, 1, 1) == 'T' and stamped(held, 2) <= now then return 'free', '' end
    return 'held', claim
end
