-- Withdraws the first {items} free items of a section of the only bank of the schema.
SELECT {schema}.bank_withdraw(b.namespace, pg_catalog.array_agg(i.h ORDER BY i.h, i.item), pg_catalog.array_agg(i.item ORDER BY i.h, i.item))
FROM {schema}.namespaces b CROSS JOIN LATERAL (
    SELECT f.h, f.item FROM {schema}.free_items f WHERE f.bank = b.namespace AND f.h >= {section} ORDER BY f.h, f.item LIMIT {items}
) i GROUP BY b.namespace
