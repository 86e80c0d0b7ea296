-- E-3 Chooses a registered attempt, unless another attempt is chosen.
-- ARGV key, message, op of the commit, op
-- Returns chosen content op attempts | gone
local op, entry = ARGV[4], added_by(ARGV[3], name_of(ARGV[1], ARGV[2]))
if not entry or not is_among(op, entry.attempts) then return { 'gone' } end
local is_first = not entry.chosen
entry.chosen = entry.chosen or op
local answer = shown('chosen', entry)
if is_first then write('HSET', entry.key, 'x', op) end
return answer
