-- S-2 Deletes tokens whose memory is over.
-- ?1 forgotten, ?2 limit
-- Returns the number of deleted tokens.
DELETE FROM storagebox_tokens WHERE (namespace, token) IN (
    SELECT namespace, token FROM storagebox_tokens WHERE gone_at <= ?1 ORDER BY gone_at LIMIT ?2
);
SELECT changes()
