-- D-7 Removes the record of this version and fences its operation.
-- ARGV id, version, memory or ''
-- Returns forgotten | absent | stale version value
local version, memory = ARGV[2], tonumber(ARGV[3])
local known = record(nil, memory)
if known.state ~= 'D' then return { 'absent' } end
if known.version ~= version then return { 'stale', known.version, value() } end
finish(id, key, known.op)
return { 'forgotten' }
