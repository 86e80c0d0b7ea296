
-- ER-5 Returns the refusal of an attempt, or 'open' if it cannot rule out an earlier attempt. If the attempt is
-- repeated, its call is void from now on. Each script runs alone: what an earlier attempt did before this script is
-- what this script found, and an earlier attempt that comes after it finds that its call is void.
local function refused(refusal, claim, row, call, is_repeated)
    if not is_repeated then return { refusal } end
    local void = with_void(row.void, call)
    if not void then return { 'open' } end
    if row.has_item then
        write('HSET', row.key, claim, with_calls(void, row.value))
    else
        check()
        finish(row.key, claim, with_calls(void, UNTAKEN), now())
        if not row.value then grow('c', claim_level, row.key, row.hash) end
    end
    return { refusal }
end
