-- IB-1, IB-8 Deletes at most `p_most` free items, and skips items that others have locked. Searches the sections whose
-- bits are set, from `p_start` on, and then, if `p_round`, from the first section on.
-- Returns the items, the searched ranges for `bank_empty_cells`, and `ahead`, up to which more items may be free.
CREATE OR REPLACE FUNCTION {schema}.bank_pick(
    p_bank bigint, p_start bigint, p_most integer, p_round boolean,
    OUT hs bigint[], OUT items text[], OUT froms bigint[], OUT tills bigint[], OUT ahead bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first   CONSTANT integer := {schema}.bank_section_of(p_start);
    section integer := first;
    is_back boolean := false;
    missing integer := p_most;
    lowest  bigint;
    got     record;
BEGIN
    WHILE missing > 0 LOOP
        section := {schema}.bank_next_section(p_bank, section);
        IF section IS NULL OR is_back AND section > first THEN
            EXIT WHEN is_back OR NOT p_round;
            is_back := true;
            section := 0;
            CONTINUE;
        END IF;
        lowest := {schema}.bank_section_start(section);
        IF NOT is_back THEN
            -- The hashes before `p_start` in its section come last.
            lowest := greatest(lowest, p_start);
        END IF;
        SELECT * INTO got FROM {schema}.bank_pick_section(p_bank, lowest, missing);
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        froms := pg_catalog.array_append(froms, lowest);
        tills := pg_catalog.array_append(tills, got.till);
        ahead := got.ahead;
        missing := missing - coalesce(pg_catalog.cardinality(got.hs), 0);
        section := section + 1;
    END LOOP;
END $$;
