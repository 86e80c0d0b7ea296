-- IB-2, IB-5 Frees withdrawn items. Items with another state are not changed.
-- The caller sorts the items, and both tables are changed in that order. The insert sorts again, because a DELETE
-- returns its rows in the order of the disk.
-- Returns how many items were withdrawn, how many have another state, and how many are unknown.
CREATE OR REPLACE FUNCTION {schema}.bank_restore(p_bank bigint, p_hs bigint[], p_items text[])
RETURNS TABLE (restored bigint, not_withdrawn bigint, unknown bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    hs    bigint[];
    items text[];
BEGIN
    WITH locked AS (
        SELECT one.place FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
            SELECT w.ctid AS place FROM {schema}.withdrawn_items w
            WHERE w.bank = p_bank AND w.h = u.h AND w.item = u.item FOR UPDATE
        ) one
    ), back AS (
        DELETE FROM {schema}.withdrawn_items w WHERE w.ctid = ANY (ARRAY(SELECT l.place FROM locked l))
        RETURNING w.h, w.item
    ), freed AS (
        INSERT INTO {schema}.free_items SELECT p_bank, b.h, b.item FROM back b ORDER BY b.h, b.item
    )
    SELECT pg_catalog.array_agg(b.h), pg_catalog.array_agg(b.item) INTO hs, items FROM back b;
    PERFORM {schema}.bank_fill_sections(p_bank, hs);
    RETURN QUERY
    SELECT coalesce(pg_catalog.cardinality(items), 0)::bigint,
           count(*) FILTER (WHERE rest.state IS NOT NULL),
           count(*) FILTER (WHERE rest.state IS NULL)
    FROM (
        SELECT (SELECT x.state FROM {schema}.bank_holder(p_bank, u.h, u.item) x LIMIT 1)
        FROM unnest(p_hs, p_items) u(h, item)
        WHERE NOT EXISTS (SELECT FROM unnest(hs, items) w(h, item) WHERE w.h = u.h AND w.item = u.item)
    ) rest;
END $$;
