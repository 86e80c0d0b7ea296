-- D-1 The first call wins, because the script is one step. D-2, D-3 All other calls get the existing record. D-7 An
-- ended operation changes nothing. D-8 During a lease the answer is 'in flight'.
-- ARGV id, value, op, retention or '', memory or ''
-- Returns new version | again version value | existing version value | in flight remaining | fenced
local payload, op, retention, memory = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local known = record(op, memory)
if known.ended then return { 'fenced' } end
if known.state == 'D' and known.op == op then list_again() end
if known.state == 'D' then return { known.op == op and 'again' or 'existing', known.version, value() } end
if known.state == 'L' and now() < tonumber(known.till) then return { 'in flight', text(known.till - now()) } end
return { 'new', put(known, op, payload, retention) }
