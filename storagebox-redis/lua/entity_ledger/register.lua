-- E-4 Registers an attempt, unless an attempt is chosen already.
-- ARGV key, message, op of the commit, op
-- Returns registered | chosen content op attempts | gone
local op, entry = ARGV[4], added_by(ARGV[3], name_of(ARGV[1], ARGV[2]))
if not entry then return { 'gone' } end
if entry.chosen then return shown('chosen', entry) end
if not is_among(op, entry.attempts) then write('HSET', entry.key, 'a', entry.packed .. packed(op)) end
return { 'registered' }
