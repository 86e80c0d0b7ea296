-- IB-10 Lists the items of a bank in their order, whatever their state.
-- ?1 name, ?2 now, ?3 after, ?4 limit
SELECT item, CASE WHEN until <= ?2 THEN 'free' ELSE state END AS state, claim
FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND item > ?3
ORDER BY item LIMIT ?4
