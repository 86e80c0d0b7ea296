-- S-2 removes at most so many tokens that are gone for longer than that is remembered.
-- ?1 forgotten, ?2 limit
DELETE FROM storagebox_tokens WHERE (namespace, token) IN (
    SELECT namespace, token FROM storagebox_tokens WHERE gone_at <= ?1 ORDER BY gone_at LIMIT ?2
);
SELECT changes()
