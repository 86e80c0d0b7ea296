-- Removes a claim from the sorted set of ends if its hold has no end, or if it has no hold.
return walk_scores(function(claim)
    local _, value = find_claim(claim)
    if value and string.sub(value, 1, 2) == UNTIL then return false end
    mend('ZREM', zset, claim)
    return true
end)
