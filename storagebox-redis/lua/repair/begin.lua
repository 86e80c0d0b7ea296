-- Begins a check, unless the namespace is sound, which means that it has no half-done step. Field `sound` is '1' from
-- creation, or after a check. During a check it is the word of that check. A change that requires a new count removes
-- it.
-- ARGV word
-- Returns sound | ''
opened('sound')
if head[2] == '1' then return { 'sound' } end
write('HSET', KEYS[1], 'sound', ARGV[1])
return { '' }
