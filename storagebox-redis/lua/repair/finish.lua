-- Marks the namespace as sound, unless the counted data has changed during the check.
-- ARGV word, then the name of each count and its correct value
-- Returns how many counts were wrong
opened('sound')
if head[2] ~= ARGV[1] then return { '0' } end
local wrong = 0
for i = 2, #ARGV, 2 do
    if (redis.call('HGET', KEYS[1], ARGV[i]) or '0') ~= ARGV[i + 1] then wrong = wrong + 1 end
end
write('HSET', KEYS[1], 'sound', '1', unpack(ARGV, 2))
return { string.format('%.0f', wrong) }
