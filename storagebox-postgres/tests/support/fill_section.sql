-- Adds {items} items to a section of the only bank of the schema. Their places are random, as hashes are. Their order
-- on the disk is different, as after many loads.
SELECT {schema}.bank_add(b.namespace, pg_catalog.array_agg(i.h ORDER BY i.n), pg_catalog.array_agg(i.item ORDER BY i.n))
FROM {schema}.namespaces b, (
    SELECT {section} + (('x' || md5(n::text))::bit(64)::bigint & 36028797018963967) AS h, 'item-' || n AS item, n
    FROM generate_series(1, {items}) n
) i GROUP BY b.namespace
