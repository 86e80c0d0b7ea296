-- S-2 removes at most so many fences of claims that ended longer ago than they are remembered.
-- ?1 forgotten, ?2 limit
DELETE FROM storagebox_ended_claims WHERE (bank, claim) IN (
    SELECT bank, claim FROM storagebox_ended_claims WHERE ended_at <= ?1 ORDER BY ended_at LIMIT ?2
);
SELECT changes()
