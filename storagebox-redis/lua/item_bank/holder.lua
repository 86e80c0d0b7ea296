-- IB-1 Reads the state of the item, and the claim that has it.
-- ARGV item
-- Returns state claim | unknown
local _, state = find_item(ARGV[1])
if not state then return { 'unknown', '' } end
return { shown(state) }
