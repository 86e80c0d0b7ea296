-- So many items in one section of the bank that is alone in the schema, at places by chance, as their hashes would have them, and
-- on the disk in another order, as many loads would leave them.
SELECT {schema}.bank_add(b.namespace, pg_catalog.array_agg(i.h ORDER BY i.n), pg_catalog.array_agg(i.item ORDER BY i.n))
FROM {schema}.namespaces b, (
    SELECT {section} + (('x' || md5(n::text))::bit(64)::bigint & 36028797018963967) AS h, 'item-' || n AS item, n
    FROM generate_series(1, {items}) n
) i GROUP BY b.namespace
