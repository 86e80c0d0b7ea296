-- IB-1, IB-8 Does the work of `bank_pick` in one section, from `p_from` on.
-- Returns the items, `till`, up to which it searched (the last item, or the end of the section), and `ahead`, up to
-- which more items may be free in the same cell.
CREATE OR REPLACE FUNCTION {schema}.bank_pick_section(
    p_bank bigint, p_from bigint, p_most integer, OUT hs bigint[], OUT items text[], OUT till bigint, OUT ahead bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last CONSTANT bigint := {schema}.bank_section_end({schema}.bank_section_of(p_from));
    cells   bit varying;
    missing integer := p_most;
    run     record;
    got     record;
BEGIN
    till := last;
    SELECT c.cells INTO cells FROM {schema}.bank_cells c
    WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(p_from);
    run := {schema}.bank_next_range(cells, p_from);
    WHILE run.lowest IS NOT NULL LOOP
        WITH picked AS (
            DELETE FROM {schema}.free_items f WHERE f.ctid = ANY (ARRAY(
                SELECT i.ctid FROM {schema}.free_items i WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
                ORDER BY i.h LIMIT missing FOR UPDATE SKIP LOCKED
            )) RETURNING f.h, f.item
        )
        SELECT pg_catalog.array_agg(p.h) AS hs, pg_catalog.array_agg(p.item) AS items, max(p.h) AS till INTO got FROM picked p;
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        missing := missing - coalesce(pg_catalog.cardinality(got.hs), 0);
        IF missing = 0 THEN
            till := got.till;
            ahead := least(run.highest, {schema}.bank_cell_till(till, length(cells)));
            EXIT;
        END IF;
        EXIT WHEN run.highest = last;
        run := {schema}.bank_next_range(cells, run.highest + 1);
    END LOOP;
END $$;
