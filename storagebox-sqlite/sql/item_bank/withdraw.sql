-- IB-2, IB-5 Withdraws free items, including those of lapsed holds. Items that are held or spent are not changed.
-- ?1 bank, ?2 items as JSON, ?3 now
-- Returns how many were free, withdrawn, and in use.
INSERT INTO storagebox_ended_claims (bank, claim, why, ended_at)
SELECT bank, claim, 'expired', until FROM storagebox_items
WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2)) AND until <= ?3;
UPDATE storagebox_items SET state = 'free', claim = NULL, until = NULL
WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2)) AND until <= ?3;
SELECT coalesce(sum(state = 'free'), 0) AS free, coalesce(sum(state = 'withdrawn'), 0) AS withdrawn,
       coalesce(sum(state IN ('held', 'spent')), 0) AS in_use
FROM storagebox_items WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2));
UPDATE storagebox_items SET state = 'withdrawn'
WHERE bank = ?1 AND item IN (SELECT value FROM json_each(?2)) AND state = 'free'
