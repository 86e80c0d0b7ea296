-- S-2 Deletes the fences of claims whose memory is over.
-- ?1 forgotten, ?2 limit
-- Returns the number of deleted fences.
DELETE FROM storagebox_ended_claims WHERE (bank, claim) IN (
    SELECT bank, claim FROM storagebox_ended_claims WHERE ended_at <= ?1 ORDER BY ended_at LIMIT ?2
);
SELECT changes()
