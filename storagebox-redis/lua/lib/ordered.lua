-- Ordered values, all of one name in one slot, because every key begins with KEYS[1]:
--   hash KEYS[1]         keeps the age of tombstones in milliseconds under time stamps, '' under sequence numbers
--   hash KEYS[1]:o:KEY   a, w the stamp of the newest write; r when it arrived; v the value, which a tombstone lacks
--   zset KEYS[1]:x       the keys that have a value, in the order of their bytes
--   zset KEYS[1]:t       the keys of tombstones, by when they may go at the earliest
local base = KEYS[1]
