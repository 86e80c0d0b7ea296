-- IB-7 Forgets a claim that has ended or is confirmed; the item of a confirmed claim stays spent. ER-5 A void call
-- forgets nothing.
-- ARGV claim, memory or '', call, 'repeated' or ''
-- Returns retired | holding | unknown | open
local claim, memory, call, is_repeated = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] ~= ''
local row, word, item, left = settle(claim, memory)
if is_void(row.void, call) then return { 'holding' } end
if word == 'unknown' then return { 'unknown' } end
if word == 'again' and left ~= 'confirmed' then return refused('holding', claim, row, call, is_repeated) end
local its = word == 'again' and bucket_of(item, claim)
if its then write('HSET', its, item, RETIRED) end
write('HDEL', row.key, claim)
return { 'retired' }
