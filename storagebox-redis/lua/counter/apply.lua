-- C-1, C-3, C-5 A remembered operation gets the answer of its first call. C-2, C-4 The bounds and the range are tested
-- on the result before anything is written. C-8 A rejection leaves no trace but a void call. ER-5 A void call changes
-- nothing.
-- ARGV key, op, delta, floor or '', ceiling or '', keeps or '', capacity or '', 'remembers' or '', 'answers' or '',
-- call, 'repeated' or ''
-- Returns applied value | already value | overflow | out of bounds | full | mismatch | fenced | open | more (too many
-- operations to forget in one step: call again)
local key, op, delta, floor, ceiling = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local keeps, capacity, remembers, answers = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] ~= '', ARGV[9] ~= ''
local call, is_repeated = ARGV[10], ARGV[11] ~= ''

local kind, first, second
if remembers then
    kind, first, second = known(base .. ':o:' .. key, op, keeps)
    if kind == 'X' then return { 'fenced' } end
    if kind == 'A' and first ~= delta then return { 'mismatch' } end
    if kind == 'A' then return { 'already', second } end
    if kind == 'V' and is_void(second, call) then return { first } end
end

-- ER-5 Returns the refusal of the attempt, or 'open' if an earlier attempt may still be applied. If the attempt is
-- repeated, makes its call void. Redis runs one script at a time: if an earlier attempt ran before this script, its
-- operation is known above. If it runs after this script, it finds its call void.
local function refused(refusal)
    if not is_repeated then return { refusal } end
    local void = remembers and with_void(kind == 'V' and second or '', call)
    if not void then return { 'open' } end
    local ops = base .. ':o:' .. key
    count_voided(ops)
    remember(key, op, 'V' .. refusal .. ':' .. void, keeps, kind)
    add_voided(ops, 1)
    return { refusal }
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

if is_below('-9223372036854775808') or is_above('9223372036854775807') then return refused('overflow') end
if floor ~= '' and is_below(floor) or ceiling ~= '' and is_above(ceiling) then return refused('out of bounds') end

local value = in_digits(high, low)
if remembers then
    local full = is_full(key, capacity, keeps)
    if full == nil then return { 'more' } end
    if full then return refused('full') end
    prune(2, keeps)
    remember(key, op, 'A' .. delta .. ':' .. (answers and value or ''), keeps, kind)
end
write('HSET', its, key, value)
if is_new then grow('v', level, its, hash) end
return { 'applied', answers and value or '' }
