-- E-5 Reads an entity, the entry of a message and whether the message's token is live, in one snapshot.
-- An entity whose memory is over counts as absent.
-- ?1 name, ?2 now, ?3 key, ?4 message, ?5 name of the tokens or null, ?6 token or null
-- Always returns one row, with nulls for a row that does not exist.
SELECT e.version, e.state, o.op, o.later, o.chosen, o.content, t.token IS NOT NULL AS is_live
FROM (
    SELECT memory,
           (SELECT number FROM storagebox_namespaces WHERE kind = 'entities' AND name = ?1) AS entities,
           (SELECT number FROM storagebox_namespaces WHERE kind = 'tokens' AND name = ?5) AS tokens
    FROM storagebox_store
) b
LEFT JOIN storagebox_entities e ON e.namespace = b.entities AND e.key = ?3
    AND (e.gone_at IS NULL OR b.memory IS NULL OR e.gone_at > ?2 - b.memory)
LEFT JOIN storagebox_entries o ON o.namespace = b.entities AND o.key = ?3 AND o.message = ?4
LEFT JOIN storagebox_tokens t ON t.namespace = b.tokens AND t.token = ?6 AND t.gone_at IS NULL
