-- IB-01 one taker gets an item: it is deleted from `free_items` in the step that writes the claim.
-- IB-03 a claim that is known is answered, not served again; a racing first take of the same claim fails on the unique
--       index (23505), which gives its item back, and is called again.
-- IB-08 takers begin at `p_start`, a place of their own, so that nobody crosses what others have drained. One that was told the
--       last time up to where there may be more, and says it as `p_till`, looks there without asking for the cells.
CREATE OR REPLACE FUNCTION {schema}.bank_take(
    p_bank bigint, p_claim text, p_hold bigint, p_memory bigint, p_start bigint, p_till bigint
) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s'
-- One plan, made once: the numbers in a call say nothing that it could go by.
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    asked  timestamptz := {schema}.clock();
    known  record;
    shown  text[];
    lowest bigint := p_start;
    till   bigint := p_till;
    -- Whether nobody has said up to where to look.
    asks   boolean;
    cells  bit varying;
    run    record;
    h      bigint;
    item   text;
    got    record;
    froms  bigint[];
    tills  bigint[];
BEGIN
    SELECT c.state, c.item, c.until, c.ended_at INTO known FROM {schema}.claims c
    WHERE c.bank = p_bank AND c.claim = p_claim;
    IF FOUND THEN
        shown := {schema}.bank_shown(known.state, known.item, known.until, known.ended_at, p_memory, asked);
        IF shown[1] <> 'forgotten' THEN
            RETURN shown;
        END IF;
        PERFORM {schema}.bank_lock(p_bank, p_claim, p_memory);
    END IF;
    asked := {schema}.clock();
    -- Nearly always there is one ahead, in the section in which a taker is.
    LOOP
        asks := till IS NULL;
        IF asks THEN
            SELECT c.cells INTO cells FROM {schema}.bank_cells c
            WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(p_start);
            run := {schema}.bank_run(cells, p_start);
            lowest := run.lowest;
            till := run.highest;
        END IF;
        WITH picked AS (
            DELETE FROM {schema}.free_items f WHERE f.ctid = (
                SELECT i.ctid FROM {schema}.free_items i
                WHERE i.bank = p_bank AND i.h >= lowest AND i.h <= till
                ORDER BY i.h LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING f.h, f.item
        )
        INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
        SELECT p_bank, p_claim, 'held', p.h, p.item, asked + {schema}.interval_of(p_hold) FROM picked p
        RETURNING c.h, c.item INTO h, item;
        EXIT WHEN FOUND OR asks;
        till := NULL;
    END LOOP;
    IF h IS NULL THEN
        SELECT * INTO got FROM {schema}.bank_pick(p_bank, p_start, 1, true);
        IF got.hs IS NULL THEN
            RETURN {schema}.bank_take_lapsed(p_bank, p_claim, p_hold, p_memory, got.froms, got.tills);
        END IF;
        asked := {schema}.clock();
        INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
        VALUES (p_bank, p_claim, 'held', got.hs[1], got.items[1], asked + {schema}.interval_of(p_hold))
        RETURNING c.h, c.item INTO h, item;
        till := got.ahead;
        froms := got.froms;
        tills := got.tills;
    ELSIF asks THEN
        till := least(till, {schema}.bank_cell_till(h, length(cells)));
        froms := ARRAY[p_start];
        tills := ARRAY[h];
    END IF;
    IF p_hold IS NOT NULL THEN
        PERFORM {schema}.bank_hold_until(p_bank, asked + {schema}.interval_of(p_hold));
        IF {schema}.has_waited(asked) THEN
            PERFORM {schema}.bank_hold_anew(p_bank, ARRAY[p_claim], ARRAY[p_hold]);
        END IF;
    END IF;
    IF froms IS NOT NULL THEN
        PERFORM {schema}.bank_empty_cells(p_bank, froms, tills);
    END IF;
    RETURN ARRAY['new', item, h::text, till::text];
END $$;
