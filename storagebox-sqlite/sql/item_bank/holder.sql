-- IB-1 Reads the state of an item and its claim. The item of a lapsed hold is free.
-- ?1 name, ?2 now, ?3 item
SELECT CASE WHEN until <= ?2 THEN 'free' ELSE state END AS state, claim
FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1)
  AND item = ?3
