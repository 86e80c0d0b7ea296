-- IB-7 Frees the item that this claim holds, and no other item. Ends an unknown claim, so that it can take nothing
-- later. A confirmed claim stays. Void calls stay void (ER-5).
-- ARGV claim, memory or ''
-- Returns released | expired | confirmed
local claim, memory = ARGV[1], tonumber(ARGV[2])
local row, word, first, second = settle(claim, memory)
if word == 'ended' then return { first } end
if second == 'confirmed' then return { second } end
check()
if word == 'again' then
    local its = bucket_of(first, claim)
    write('ZREM', base .. ':t', claim)
    free(first, its)
end
finish(row.key, claim, with_calls(row.void, RELEASED), now())
if not row.value then grow('c', claim_level, row.key, row.hash) end
return { 'released' }
