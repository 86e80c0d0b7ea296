
-- ER-5 Returns the refusal of an attempt, or 'open' if an earlier attempt may still be applied. If the attempt is
-- repeated, makes its call void. Redis runs one script at a time: if an earlier attempt ran before this script, this
-- script has found its effect. If it runs after this script, it finds its call void.
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
