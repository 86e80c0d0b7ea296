-- Removes the ends of holds of claims that have no hold with an end.
return walk_scores(function(claim)
    local _, value = find_claim(claim)
    if value and string.sub(value, 1, 2) == UNTIL then return false end
    mend('ZREM', zset, claim)
    return true
end)
