-- IB-1, IB-3, IB-8 Makes several takes in one step, as `bank_take` does. The caller sorts the claims and gives each
-- once, so that concurrent steps wait for each other in one order.
-- A claim gets no item if no item is left for it, if its hold has lapsed, if it is forgotten or some of its calls are
-- void (ER-5), or if a concurrent statement inserts it; the client then takes these claims one by one.
-- Returns the new claims and their items, the last hash, and the known claims with the three words of their views.
CREATE OR REPLACE FUNCTION {schema}.bank_take_many(
    p_bank bigint, p_claims text[], p_holds bigint[], p_memory bigint, p_start bigint, p_since bigint
) RETURNS TABLE (claims text[], items text[], h bigint, known text[], words text[], firsts text[], seconds text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s'
-- One generic plan: the arguments of a call do not help to find a better one.
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    asked timestamptz := {schema}.clock();
    free  text[] := p_claims;
    holds bigint[] := p_holds;
    wanted integer;
    cells bit varying;
    run   record;
    hs    bigint[];
    froms bigint[];
    tills bigint[];
    got   record;
BEGIN
    SELECT pg_catalog.array_agg(k.claim), pg_catalog.array_agg(k.shown[1]), pg_catalog.array_agg(k.shown[2]), pg_catalog.array_agg(k.shown[3])
    INTO known, words, firsts, seconds FROM (
        -- A take alone locks a lapsed hold, which a step that is not committed may have extended or confirmed in time.
        SELECT u.claim, CASE WHEN c.state = 'held' AND c.until <= asked THEN ARRAY['forgotten']
            ELSE {schema}.bank_claim_view(c.state, c.item, c.until, c.ended_at, p_memory, asked) END AS shown
        FROM pg_catalog.unnest(p_claims) u(claim) CROSS JOIN LATERAL (
            -- OFFSET 0: one lookup per claim. A cached plan for all claims may have been made for an empty table.
            SELECT * FROM {schema}.claims x WHERE x.bank = p_bank AND x.claim = u.claim OFFSET 0
        ) c
    ) k;
    IF known IS NOT NULL THEN
        SELECT pg_catalog.array_agg(u.claim ORDER BY u.claim COLLATE "C"), pg_catalog.array_agg(u.hold ORDER BY u.claim COLLATE "C")
        INTO free, holds
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim <> ALL (known);
    END IF;
    -- Nearly always the next range of cells in the section of `p_start` has enough items.
    wanted := coalesce(pg_catalog.cardinality(free), 0);
    SELECT c.cells INTO cells FROM {schema}.bank_cells c
    WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(p_start);
    run := {schema}.bank_next_range(cells, p_start);
    WITH picked AS (
        DELETE FROM {schema}.free_items f WHERE f.ctid = ANY (ARRAY(
            SELECT i.ctid FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ORDER BY i.h LIMIT wanted FOR UPDATE SKIP LOCKED
        )) RETURNING f.h, f.item
    )
    SELECT pg_catalog.array_agg(p.h), pg_catalog.array_agg(p.item), max(p.h) INTO hs, items, h FROM picked p;
    IF pg_catalog.cardinality(hs) = wanted THEN
        froms := ARRAY[p_since];
        tills := ARRAY[h];
        IF {schema}.bank_section_of(p_since) <> {schema}.bank_section_of(h) THEN
            froms := ARRAY[p_since, p_start];
            tills := ARRAY[{schema}.bank_section_end({schema}.bank_section_of(p_since)), h];
        END IF;
    ELSE
        SELECT * INTO got FROM {schema}.bank_pick(p_bank, p_since, wanted - coalesce(pg_catalog.cardinality(hs), 0), false);
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        h := (SELECT max(u.h) FROM unnest(hs) u(h));
        froms := got.froms;
        tills := got.tills;
    END IF;
    SELECT m.claims, m.items INTO claims, items FROM {schema}.bank_make_claims(p_bank, free, holds, hs, items) m;
    PERFORM {schema}.bank_empty_cells(p_bank, froms, tills, false);
    RETURN NEXT;
END $$;
