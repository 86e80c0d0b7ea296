-- Finishes `bank_take` for an unknown claim without a hint. Nearly always finds an item in the next range of cells in
-- the section of `p_start`; otherwise searches the next sections. Clears the bits of cells that the taker has emptied
-- since `p_since`. In a transaction of the caller, `p_since` is null. Locks last until its commit, so the step changes
-- neither the bits of sections nor the bound of lapsed holds: every release, and every take with a hold that ends,
-- would wait for these rows.
-- `p_voids` is the call that 'empty' makes void, or null.
-- Returns new item hash till, and more items may be free up to `till`; or what `bank_take_lapsed` returns.
CREATE OR REPLACE FUNCTION {schema}.bank_take_ahead(
    p_bank bigint, p_claim text, p_voids bigint, p_hold bigint, p_memory bigint, p_start bigint, p_since bigint
) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    since CONSTANT bigint := coalesce(p_since, p_start);
    is_joined CONSTANT boolean := p_since IS NULL;
    asked timestamptz := {schema}.clock();
    cells bit varying;
    run   record;
    h     bigint;
    item  text;
    till  bigint;
    got   record;
    froms bigint[];
    tills bigint[];
BEGIN
    SELECT c.cells INTO cells FROM {schema}.bank_cells c
    WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(p_start);
    run := {schema}.bank_next_range(cells, p_start);
    WITH picked AS (
        DELETE FROM {schema}.free_items f WHERE f.ctid = (
            SELECT i.ctid FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ORDER BY i.h LIMIT 1 FOR UPDATE SKIP LOCKED
        ) RETURNING f.h, f.item
    )
    INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
    SELECT p_bank, p_claim, 'held', p.h, p.item, asked + {schema}.interval_of(p_hold) FROM picked p
    RETURNING c.h, c.item INTO h, item;
    IF FOUND THEN
        froms := ARRAY[since];
        tills := ARRAY[h];
        IF {schema}.bank_section_of(since) <> {schema}.bank_section_of(h) THEN
            froms := ARRAY[since, p_start];
            tills := ARRAY[{schema}.bank_section_end({schema}.bank_section_of(since)), h];
        END IF;
        till := {schema}.bank_cell_till(h, length(cells));
        IF till < run.highest THEN
            till := {schema}.bank_cell_till(till + 1, length(cells));
        END IF;
    ELSE
        SELECT * INTO got FROM {schema}.bank_pick(p_bank, since, 1, true);
        IF got.hs IS NULL THEN
            RETURN {schema}.bank_take_lapsed(
                p_bank, p_claim, p_voids, p_hold, p_memory, got.froms, got.tills, is_joined
            );
        END IF;
        asked := {schema}.clock();
        h := got.hs[1];
        item := got.items[1];
        INSERT INTO {schema}.claims (bank, claim, state, h, item, until)
        VALUES (p_bank, p_claim, 'held', h, item, asked + {schema}.interval_of(p_hold));
        till := got.ahead;
        froms := got.froms;
        tills := got.tills;
    END IF;
    IF p_hold IS NOT NULL THEN
        PERFORM {schema}.bank_hold_from(p_bank, p_claim, p_hold, asked);
    END IF;
    PERFORM {schema}.bank_empty_cells(p_bank, froms, tills, is_joined);
    RETURN ARRAY['new', item, h::text, till::text];
END $$;
