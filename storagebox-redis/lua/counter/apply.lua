-- C-1, C-3, C-5 A remembered operation gets the answer of its first call. C-2, C-4 The bounds and the range are tested
-- on the result before anything is written. C-8 A rejection leaves no trace.
-- ARGV key, op, delta, floor or '', ceiling or '', keeps or '', capacity or '', 'remembers' or '', 'answers' or ''
-- Returns applied value | already value | overflow | out of bounds | full | mismatch | fenced | more: call again, to
-- forget more
local key, op, delta, floor, ceiling = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local keeps, capacity, remembers, answers = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] ~= '', ARGV[9] ~= ''

if remembers then
    local kind, its_delta, its_value = known(base .. ':o:' .. key, op, keeps)
    if kind == 'X' then return { 'fenced' } end
    if kind and its_delta ~= delta then return { 'mismatch' } end
    if kind then return { 'already', its_value } end
end

local its, stored, hash = find(values, level, key)
local is_new = not stored
stored = stored or '0'
if not string.match(stored, '^%-?%d+$') or string.len(stored) > 20 then corrupt('a value that is no number') end
local high, low = whole(stored)
high, low = sum(high, low, whole(delta))

local function is_below(bound)
    local bound_high, bound_low = whole(bound)
    return is_less(high, low, bound_high, bound_low)
end

local function is_above(bound)
    local bound_high, bound_low = whole(bound)
    return is_less(bound_high, bound_low, high, low)
end

if is_below('-9223372036854775808') or is_above('9223372036854775807') then return { 'overflow' } end
if floor ~= '' and is_below(floor) or ceiling ~= '' and is_above(ceiling) then return { 'out of bounds' } end

local value = in_digits(high, low)
if remembers then
    local full = is_full(key, capacity, keeps)
    if full == nil then return { 'more' } end
    if full then return { 'full' } end
    prune(2, keeps)
    remember(key, op, 'A' .. delta .. ':' .. (answers and value or ''), keeps)
end
write('HSET', its, key, value)
if is_new then grow('v', level, its, hash) end
return { 'applied', answers and value or '' }
