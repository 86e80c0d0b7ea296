-- IB-1 where the item is, with its one holder.
-- ARGV item
-- state claim | unknown
local _, state = find_item(ARGV[1])
if not state then return { 'unknown', '' } end
return { shown(state) }
