-- IB-1 where an item is.
-- ?1 name, ?2 now, ?3 item
SELECT CASE WHEN until <= ?2 THEN 'free' ELSE state END AS state, claim
FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1)
  AND item = ?3
