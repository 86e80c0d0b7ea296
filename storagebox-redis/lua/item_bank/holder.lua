-- IB-01 where the item is, with its one holder.
-- ARGV item
-- state claim | unknown
local state = redis.call('HGET', items_with(ARGV[1]), ARGV[1])
if not state then return { 'unknown', '' } end
return { shown(state) }
