-- D-1 Compare-and-set by the version; a retry is recognised by its operation and the version that it replaced.
-- ARGV id, version, value, op, memory or ''
-- Returns replaced version | again version | stale, with version and value if there is a record
local version, payload, op, memory = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local known = record(nil, memory)
if known.state ~= 'D' then return { 'stale' } end
if known.replaced_by == op and known.replaced == version then return { 'again', known.version } end
if known.version ~= version then return { 'stale', known.version, value() } end
local number = next_number()
write('HSET', key, 'n', number, 'v', payload, 'b', op, 'm', version)
return { 'replaced', number }
