-- IB-1 Inserts claims for items that the caller has deleted from `free_items`: the first claim gets the first item, and
-- so on. IB-3 If a concurrent statement inserts one of the claims, the item for that claim is freed again, and the
-- other claims keep their items.
-- Returns the inserted claims and their items.
CREATE OR REPLACE FUNCTION {schema}.bank_make_claims(
    p_bank bigint, p_claims text[], p_holds bigint[], p_hs bigint[], p_items text[], OUT claims text[], OUT items text[]
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    BEGIN
        INSERT INTO {schema}.claims (bank, claim, state, h, item, until)
        SELECT p_bank, u.claim, 'held', u.h, u.item, asked + {schema}.interval_of(u.hold)
        FROM unnest(p_claims, p_holds, p_hs, p_items) u(claim, hold, h, item) WHERE u.item IS NOT NULL;
        claims := p_claims[:pg_catalog.cardinality(p_items)];
        items := p_items;
    EXCEPTION WHEN unique_violation THEN
        WITH made AS (
            INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
            SELECT p_bank, u.claim, 'held', u.h, u.item, asked + {schema}.interval_of(u.hold)
            FROM unnest(p_claims, p_holds, p_hs, p_items) u(claim, hold, h, item) WHERE u.item IS NOT NULL
            ON CONFLICT (bank, claim) DO NOTHING RETURNING c.claim, c.item
        )
        SELECT pg_catalog.array_agg(m.claim), pg_catalog.array_agg(m.item) INTO claims, items FROM made m;
        INSERT INTO {schema}.free_items SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item)
        WHERE (u.item = ANY (items)) IS NOT TRUE ORDER BY u.h, u.item;
        PERFORM {schema}.bank_fill_sections(p_bank, p_hs);
    END;
    IF pg_catalog.cardinality(pg_catalog.array_remove(p_holds, NULL)) > 0 THEN
        PERFORM {schema}.bank_hold_until(p_bank, asked + {schema}.interval_of((SELECT min(u.hold) FROM unnest(p_holds) u(hold))));
    END IF;
    IF {schema}.has_waited(asked) THEN
        PERFORM {schema}.bank_restart_holds(p_bank, pg_catalog.array_agg(u.claim), pg_catalog.array_agg(u.hold))
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim = ANY (claims);
    END IF;
END $$;
