-- Queues ended and untaken claims that were not in the queue at any time while it was read; otherwise upkeep would
-- never forget them.
-- ARGV the last piece of the queue when the reading began, then since claim of each
-- Returns how many were repaired
local pushed = pushed_since('e', tonumber(ARGV[1]), ENDED_LAST)
check()
for i = 2, #ARGV do
    local since, claim = string.sub(ARGV[i], 1, 16), string.sub(ARGV[i], 17)
    local _, value = find_claim(claim)
    if not pushed[ARGV[i]] and is_over_since(value, since) then
        push('e', ENDED_LAST, ARGV[i])
        mended = mended + 1
    end
end
return { text(mended) }
