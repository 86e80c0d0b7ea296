-- T-5 Consumes a live token. An unknown token leaves no trace.
-- ?1 namespace, ?2 token, ?3 now, ?4 op
-- Returns whether this call consumed it, and the operation and the time of its end; no row if the token is unknown.
UPDATE storagebox_tokens SET gone_at = ?3, op = ?4 WHERE namespace = ?1 AND token = ?2 AND gone_at IS NULL;
SELECT changes() AS won, op, gone_at FROM storagebox_tokens WHERE namespace = ?1 AND token = ?2
