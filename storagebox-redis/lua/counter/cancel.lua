-- C-8 Fences the operation unless it was applied.
-- ARGV key, op, keeps or '', capacity or ''
-- Returns cancelled | already value | full | more (too many operations to forget in one step: call again)
local key, op, keeps, capacity = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local kind, _, value = known(base .. ':o:' .. key, op, keeps)
if kind == 'A' then return { 'already', value } end
if kind == 'X' then return { 'cancelled' } end
local full = is_full(key, capacity, keeps)
if full == nil then return { 'more' } end
if full then return { 'full' } end
remember(key, op, 'X', keeps, kind)
return { 'cancelled' }
