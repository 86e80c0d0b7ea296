
-- ER-5 Returns the refusal of an attempt, or 'open' if it cannot rule out an earlier attempt. If the attempt is
-- repeated, its call is void from now on. An earlier attempt that is still on its way finds that in the claim, because
-- each script runs alone: had it run before, this attempt would have found what it did.
local function refused(refusal, claim, row, call, is_repeated)
    if not is_repeated then return { refusal } end
    local void = with_void(row.void, call)
    if not void then return { 'open' } end
    if row.is_held then
        write('HSET', row.key, claim, with_calls(void, row.value))
    else
        check()
        finish(row.key, claim, with_calls(void, UNTAKEN), now())
        if not row.value then grow('c', claim_level, row.key, row.hash) end
    end
    return { refusal }
end
