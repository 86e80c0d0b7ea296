-- IB-8 Clears the bits of the cells of these hashes if no item is left in them, as `bank_empty_cells` does for takers.
-- The caller has deleted the free items of these hashes. Checks each cell once, and writes each section once.
-- Leaves the bit of a section without items to the next taker: in a transaction of the caller, releases to 64 sections
-- would wait for its row.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_cells_of(p_bank bigint, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one   record;
    first bigint;
    known bit varying;
    kept  bit varying;
BEGIN
    PERFORM {schema}.check_isolation();
    FOR one IN
        SELECT {schema}.bank_section_of(h) AS section, pg_catalog.array_agg(h) AS hs
        FROM pg_catalog.unnest(p_hs) h GROUP BY 1 ORDER BY 1
    LOOP
        SELECT c.cells INTO known FROM {schema}.bank_cells c
        WHERE c.bank = p_bank AND c.section = one.section FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        kept := known;
        FOR first IN SELECT min(h) FROM pg_catalog.unnest(one.hs) h GROUP BY {schema}.bank_cell_of(h, length(known)) LOOP
            kept := {schema}.bank_without_empty(p_bank, kept, first, {schema}.bank_cell_till(first, length(known)));
        END LOOP;
        IF kept <> known THEN
            UPDATE {schema}.bank_cells c SET cells = kept WHERE c.bank = p_bank AND c.section = one.section;
        END IF;
    END LOOP;
END $$;
