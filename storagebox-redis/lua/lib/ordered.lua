-- Ordered values, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]         epoch that of the store; keeps the age of tombstones in milliseconds under time stamps, '' under sequence numbers
--   hash KEYS[1]:o:KEY   a, w the stamp of the newest write; r when it arrived; v the value, which a tombstone lacks
--   zset KEYS[1]:x       the keys that have a value, in the order of their bytes
--   zset KEYS[1]:t       the keys of tombstones, by when they may go at the earliest
opened('keeps')
local base = KEYS[1]

local function is_writer(text) return text and text ~= '' and not string.find(text, '%z') end

-- A cell as it is found: the stamp's time or number and writer, and the value. It has a stamp, or nothing.
local function found_at(cell)
    local found = redis.call('HMGET', cell, 'a', 'w', 'v')
    local is_stamped = found[1] and string.match(found[1], '^%-?%d+$') and is_writer(found[2])
    if not is_stamped and (found[1] or found[2] or found[3]) then corrupt('a value without its stamp') end
    return found
end
