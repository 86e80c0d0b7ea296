-- Ended claims that upkeep would never forget: the same for the queue of those.
-- ARGV the last piece when that began, then since claim of each
-- how many were mended
local pushed = pushed_since('e', tonumber(ARGV[1]), ENDED_LAST)
check()
for i = 2, #ARGV do
    local since, claim = string.sub(ARGV[i], 1, 16), string.sub(ARGV[i], 17)
    local _, value = find_claim(claim)
    if not pushed[ARGV[i]] and (value == RELEASED .. since or value == EXPIRED .. since) then
        push('e', ENDED_LAST, ARGV[i])
        mended = mended + 1
    end
end
return { text(mended) }
