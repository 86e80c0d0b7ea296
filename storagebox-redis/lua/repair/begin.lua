-- A namespace is sound if no version ever left a step half done in it: the field `sound` is '1' from its creation on, or since
-- upkeep looked at all of it. While upkeep looks, it is a word of its own, and whatever makes it count again removes that.
-- ARGV word
-- sound | ''
opened('sound')
if head[2] == '1' then return { 'sound' } end
write('HSET', KEYS[1], 'sound', ARGV[1])
return { '' }
