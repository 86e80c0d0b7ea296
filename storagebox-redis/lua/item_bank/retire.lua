-- IB-07 forgets a claim that has ended or is confirmed; a confirmed one's item stays spent.
-- ARGV claim, memory or ''
-- retired | holding | unknown
local claim, memory = ARGV[1], tonumber(ARGV[2])
local key, word, item, left = settle(claim, memory)
if word == 'unknown' then return { 'unknown' } end
if word == 'again' and left ~= 'confirmed' then return { 'holding' } end
if word == 'again' then redis.call('HSET', items_with(item), item, RETIRED) end
redis.call('HDEL', key, claim)
return { 'retired' }
