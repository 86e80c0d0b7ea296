-- IB-2, IB-5 Withdraws free items, including those of lapsed holds. Items that are held or spent are not changed.
-- An item is neither held nor spent while another step frees it or moves it: then the client repeats the call.
-- Returns how many items were free, withdrawn, in use, and unknown.
CREATE OR REPLACE FUNCTION {schema}.bank_withdraw(p_bank bigint, p_hs bigint[], p_items text[])
RETURNS TABLE (withdrawn bigint, already_withdrawn bigint, in_use bigint, unknown bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    asked  timestamptz := {schema}.clock();
    places tid[];
    hs     bigint[];
    items  text[];
    moving bigint;
BEGIN
    SELECT pg_catalog.array_agg(l.place), pg_catalog.array_agg(l.h), pg_catalog.array_agg(l.item) INTO places, hs, items
    FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
        SELECT c.ctid AS place, c.h, c.item FROM {schema}.claims c
        WHERE c.bank = p_bank AND c.h = u.h AND c.item = u.item AND c.until <= asked FOR UPDATE SKIP LOCKED
    ) l;
    PERFORM {schema}.bank_end_lapsed(p_bank, places, hs, items);
    WITH locked AS (
        SELECT one.place FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
            SELECT f.ctid AS place FROM {schema}.free_items f
            WHERE f.bank = p_bank AND f.h = u.h AND f.item = u.item FOR UPDATE
        ) one
    ), gone AS (
        DELETE FROM {schema}.free_items f WHERE f.ctid = ANY (ARRAY(SELECT l.place FROM locked l)) RETURNING f.h, f.item
    ), aside AS (
        INSERT INTO {schema}.withdrawn_items SELECT p_bank, g.h, g.item FROM gone g ORDER BY g.h, g.item
    )
    SELECT pg_catalog.array_agg(g.h), pg_catalog.array_agg(g.item) INTO hs, items FROM gone g;
    SELECT coalesce(pg_catalog.cardinality(items), 0)::bigint,
           count(*) FILTER (WHERE rest.state = 'withdrawn'),
           count(*) FILTER (WHERE rest.state IN ('held', 'spent')),
           count(*) FILTER (WHERE rest.state IS NULL),
           count(*) FILTER (WHERE rest.state = 'free')
    INTO withdrawn, already_withdrawn, in_use, unknown, moving
    FROM (
        SELECT (SELECT x.state FROM {schema}.bank_holder(p_bank, u.h, u.item) x LIMIT 1)
        FROM unnest(p_hs, p_items) u(h, item)
        WHERE NOT EXISTS (SELECT FROM unnest(hs, items) w(h, item) WHERE w.h = u.h AND w.item = u.item)
    ) rest;
    IF moving > 0 THEN
        RAISE EXCEPTION 'another step has locked a free item' USING ERRCODE = '55P03';
    END IF;
    -- Takers then skip the dead rows. Last in the step, as in a take.
    PERFORM {schema}.bank_empty_cells_of(p_bank, hs);
    RETURN NEXT;
END $$;
