-- What `bank_pick` does in one section: at most `p_most` items from this hash on, and how far was looked at: up to the last of
-- them, or up to the section's end.
CREATE OR REPLACE FUNCTION {schema}.bank_pick_section(
    p_bank bigint, p_from bigint, p_most integer, OUT hs bigint[], OUT items text[], OUT till bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last CONSTANT bigint := {schema}.bank_section_end({schema}.bank_section_of(p_from));
    missing integer := p_most;
    run     record;
    got     record;
BEGIN
    till := last;
    SELECT * INTO run FROM {schema}.bank_run(p_bank, p_from);
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
            EXIT;
        END IF;
        EXIT WHEN run.highest = last;
        SELECT * INTO run FROM {schema}.bank_run(p_bank, run.highest + 1);
    END LOOP;
END $$;
