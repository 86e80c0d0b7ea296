-- IB-2, IB-5 frees withdrawn items, and shows how many there were and how many of the others are known.
-- ?1 bank, ?2 items as JSON
SELECT coalesce(sum(state = 'withdrawn'), 0) AS withdrawn, coalesce(sum(state <> 'withdrawn'), 0) AS others
FROM storagebox_items WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2));
UPDATE storagebox_items SET state = 'free'
WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2)) AND state = 'withdrawn'
