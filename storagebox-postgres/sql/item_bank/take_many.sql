-- Many takes in one step, for calls that came while another was under way. The caller sorts the claims, so that two such steps
-- wait in one order for each other's, and gives each once.
-- IB-3 claims that are known are answered, as `bank_get` does; IB-1, IB-8 the others get items as in `bank_take`. Fewer
-- items than claims: the rest is to be taken alone. So is a claim that is forgotten, and one that another statement makes at
-- the same time: the item that it would have got goes back, and its neighbours keep theirs.
-- IB-8 From `p_since` on the taker has not looked back at the cells that it left, as in `bank_take`.
CREATE OR REPLACE FUNCTION {schema}.bank_take_many(
    p_bank bigint, p_claims text[], p_holds bigint[], p_memory bigint, p_start bigint, p_since bigint
) RETURNS TABLE (claims text[], items text[], h bigint, known text[], words text[], firsts text[], seconds text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s'
-- One plan, made once: the numbers in a call say nothing that it could go by.
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
        SELECT u.claim, {schema}.bank_claim_view(c.state, c.item, c.until, c.ended_at, p_memory, asked) AS shown
        FROM pg_catalog.unnest(p_claims) u(claim) CROSS JOIN LATERAL (
            -- One look for each claim, and never a plan for all at once, made when the table was empty.
            SELECT * FROM {schema}.claims x WHERE x.bank = p_bank AND x.claim = u.claim OFFSET 0
        ) c
    ) k;
    IF known IS NOT NULL THEN
        SELECT pg_catalog.array_agg(u.claim ORDER BY u.claim), pg_catalog.array_agg(u.hold ORDER BY u.claim) INTO free, holds
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim <> ALL (known);
    END IF;
    -- Nearly always there are as many ahead, in the section in which a taker is.
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
    PERFORM {schema}.bank_empty_cells(p_bank, froms, tills);
    RETURN NEXT;
END $$;
