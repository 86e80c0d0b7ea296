-- Queues ended and untaken claims that the caller did not find in the queue, unless they were queued since then. Upkeep
-- never forgets a claim that is not in the queue.
-- ARGV the last piece of the queue when the reading began, then the queue entry (since claim) of each such claim
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
