-- E-7 Removes the entry of this commit, but no later entry of its message. The version stays. E-6 If the entity then
-- has no state and no entry, its memory begins now.
-- ARGV key, message, op of the commit
-- Returns removed | absent
local key, name = ARGV[1], name_of(ARGV[1], ARGV[2])
local entry = added_by(ARGV[3], name)
if not entry then return { 'absent' } end
local known = entity_of(key)
if not known.version or known.since then corrupt('an entry without its entity') end
local rests = not known.state and not has_others(key, name)
check()
write('DEL', entry.key)
write('ZREM', base .. ':x', name)
if rests then rest(key, known.key) end
return { 'removed' }
