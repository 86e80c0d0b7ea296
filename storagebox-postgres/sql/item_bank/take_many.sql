-- Many takes in one step, for calls that came while another was under way. The caller sorts the claims, so that two such steps
-- wait in one order for each other's, and gives each once.
-- IB-03 claims that are known are answered, as `bank_get` does; IB-01, IB-08 the others get items as in `bank_take`. Fewer
-- items than claims: the rest is to be taken alone. So is a claim that is forgotten, and one that another statement makes at
-- the same time: the item that it would have got goes back, and its neighbours keep theirs.
CREATE OR REPLACE FUNCTION {schema}.bank_take_many(
    p_bank bigint, p_claims text[], p_holds bigint[], p_memory bigint, p_start bigint
) RETURNS TABLE (claims text[], items text[], h bigint, known text[], words text[], firsts text[], seconds text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    asked timestamptz := {schema}.clock();
    free  text[] := p_claims;
    holds bigint[] := p_holds;
    got   record;
BEGIN
    SELECT pg_catalog.array_agg(k.claim), pg_catalog.array_agg(k.shown[1]), pg_catalog.array_agg(k.shown[2]), pg_catalog.array_agg(k.shown[3])
    INTO known, words, firsts, seconds FROM (
        SELECT u.claim, {schema}.bank_shown(c.state, c.item, c.until, c.ended_at, p_memory, asked) AS shown
        FROM pg_catalog.unnest(p_claims) u(claim) CROSS JOIN LATERAL (
            -- One look for each claim, and never a plan for all at once, made when the table was empty.
            SELECT * FROM {schema}.claims x WHERE x.bank = p_bank AND x.claim = u.claim OFFSET 0
        ) c
    ) k;
    IF known IS NOT NULL THEN
        SELECT pg_catalog.array_agg(u.claim ORDER BY u.claim), pg_catalog.array_agg(u.hold ORDER BY u.claim) INTO free, holds
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim <> ALL (known);
    END IF;
    SELECT * INTO got FROM {schema}.bank_pick(p_bank, p_start, coalesce(pg_catalog.cardinality(free), 0), false);
    SELECT max(u.h) INTO h FROM unnest(got.hs) u(h);
    asked := {schema}.clock();
    WITH made AS (
        INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
        SELECT p_bank, u.claim, 'held', u.h, u.item, asked + {schema}.interval_of(u.hold)
        FROM unnest(free, holds, got.hs, got.items) u(claim, hold, h, item) WHERE u.item IS NOT NULL
        ON CONFLICT (bank, claim) DO NOTHING RETURNING c.claim, c.item
    )
    SELECT pg_catalog.array_agg(m.claim), pg_catalog.array_agg(m.item) INTO claims, items FROM made m;
    IF pg_catalog.cardinality(got.items) > coalesce(pg_catalog.cardinality(claims), 0) THEN
        INSERT INTO {schema}.free_items SELECT p_bank, u.h, u.item FROM unnest(got.hs, got.items) u(h, item)
        WHERE (u.item = ANY (items)) IS NOT TRUE ORDER BY u.h, u.item;
        PERFORM {schema}.bank_fill_sections(p_bank, got.hs);
    END IF;
    IF EXISTS (SELECT FROM unnest(holds) u(hold) WHERE u.hold IS NOT NULL) THEN
        PERFORM {schema}.bank_hold_until(p_bank, asked + {schema}.interval_of((SELECT min(u.hold) FROM unnest(holds) u(hold))));
    END IF;
    IF {schema}.has_waited(asked) THEN
        PERFORM {schema}.bank_hold_anew(p_bank, pg_catalog.array_agg(u.claim), pg_catalog.array_agg(u.hold))
        FROM unnest(free, holds) u(claim, hold) WHERE u.claim = ANY (claims);
    END IF;
    PERFORM {schema}.bank_empty_cells(p_bank, got.froms, got.tills);
    RETURN NEXT;
END $$;
