-- IB-5 Adds items as free. Known items are not changed, whatever their state.
-- Inserts the items, and then deletes the items that a new snapshot shows as held, spent or withdrawn. A concurrent
-- step that frees such an item waits for this step at the unique index, or has committed before.
-- The caller sorts the items, so that concurrent loads lock in one order.
-- Returns the number of new items.
CREATE OR REPLACE FUNCTION {schema}.bank_add(p_bank bigint, p_hs bigint[], p_items text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    places tid[];
    hs     bigint[];
    items  text[];
    known  tid[];
BEGIN
    PERFORM {schema}.check_isolation();
    WITH new AS (
        INSERT INTO {schema}.free_items AS f SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item)
        ON CONFLICT DO NOTHING RETURNING f.ctid AS place, f.h, f.item
    )
    SELECT pg_catalog.array_agg(n.place), pg_catalog.array_agg(n.h), pg_catalog.array_agg(n.item) INTO places, hs, items FROM new n;
    IF EXISTS (SELECT FROM {schema}.claims c WHERE c.bank = p_bank AND c.item IS NOT NULL)
        OR EXISTS (SELECT FROM {schema}.withdrawn_items w WHERE w.bank = p_bank) THEN
        -- OFFSET 0: one lookup per item. A cached plan for all items may have been made for empty tables.
        SELECT pg_catalog.array_agg(l.place) FILTER (WHERE l.is_known), pg_catalog.array_agg(l.h) FILTER (WHERE NOT l.is_known)
        INTO known, hs FROM (
            SELECT u.place, u.h, EXISTS (
                SELECT FROM {schema}.claims c WHERE c.bank = p_bank AND c.h = u.h AND c.item = u.item OFFSET 0
            ) OR EXISTS (
                SELECT FROM {schema}.withdrawn_items w
                WHERE w.bank = p_bank AND w.h = u.h AND w.item = u.item OFFSET 0
            ) AS is_known
            FROM unnest(places, hs, items) u(place, h, item) OFFSET 0
        ) l;
        DELETE FROM {schema}.free_items f WHERE f.ctid = ANY (known);
    END IF;
    -- IB-8 Not for the items that were deleted again: takers would scan their dead rows.
    PERFORM {schema}.bank_fill_sections(p_bank, hs);
    RETURN coalesce(pg_catalog.cardinality(places), 0) - coalesce(pg_catalog.cardinality(known), 0);
END $$;
