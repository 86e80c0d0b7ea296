-- The keys of a namespace of ordered values, all in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]         epoch of the store; keeps the age of tombstones in milliseconds for time stamps, '' for
--                        sequence numbers
--   hash KEYS[1]:o:KEY   a, w the stamp of the newest write; r when it arrived; v the value, which a tombstone lacks
--   zset KEYS[1]:x       the keys that have a value, ordered by their bytes
--   zset KEYS[1]:t       the keys of tombstones, by the earliest moment at which they may be removed
opened('keeps')
local base = KEYS[1]

local function is_writer(text) return text and text ~= '' and not string.find(text, '%z') end

-- Returns a cell as stored: the stamp's time or number and writer, and the value. A cell has a stamp or is absent.
local function found_at(cell)
    local found = redis.call('HMGET', cell, 'a', 'w', 'v')
    local is_stamped = found[1] and string.match(found[1], '^%-?%d+$') and is_writer(found[2])
    if not is_stamped and (found[1] or found[2] or found[3]) then corrupt('a value without its stamp') end
    return found
end
