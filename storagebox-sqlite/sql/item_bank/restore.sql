-- IB-2, IB-5 Frees withdrawn items.
-- ?1 bank, ?2 items as JSON
-- Returns how many were withdrawn, and how many have another state.
SELECT coalesce(sum(state = 'withdrawn'), 0) AS withdrawn, coalesce(sum(state <> 'withdrawn'), 0) AS others
FROM storagebox_items WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2));
UPDATE storagebox_items SET state = 'free'
WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2)) AND state = 'withdrawn'
