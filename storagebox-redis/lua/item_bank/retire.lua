-- IB-7 Forgets a claim that has ended or is confirmed; the item of a confirmed claim stays spent.
-- ARGV claim, memory or ''
-- Returns retired | holding | unknown
local claim, memory = ARGV[1], tonumber(ARGV[2])
local key, word, item, left = settle(claim, memory)
if word == 'unknown' then return { 'unknown' } end
if word == 'again' and left ~= 'confirmed' then return { 'holding' } end
local its = word == 'again' and bucket_of(item, claim)
if its then write('HSET', its, item, RETIRED) end
write('HDEL', key, claim)
return { 'retired' }
