-- IB-10 the items in their order, each in one row wherever it is.
-- ?1 bank, ?2 now, ?3 after, ?4 limit
SELECT item, CASE WHEN until <= ?2 THEN 'free' ELSE state END AS state, claim
FROM storagebox_items WHERE bank = ?1 AND item > ?3 ORDER BY item LIMIT ?4
