-- IB-8 Clears the bits of cells without an item, in ranges of hashes in which a taker found none. Also clears the bit
-- of a section if none of its cells has its bit set, unless `p_is_joined`.
-- Skips a section that another step has locked, because that step may be about to add an item. Under the lock, a new
-- snapshot shows every item, also an item whose deletion is not committed.
-- The caller does this last in its step, so that the locks are short.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_cells(
    p_bank bigint, p_froms bigint[], p_tills bigint[], p_is_joined boolean
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one   integer;
    known bit varying;
    kept  bit varying;
BEGIN
    FOR i IN 1 .. coalesce(pg_catalog.cardinality(p_froms), 0) LOOP
        one := {schema}.bank_section_of(p_froms[i]);
        SELECT c.cells INTO known FROM {schema}.bank_cells c
        WHERE c.bank = p_bank AND c.section = one
          AND {schema}.bank_cell_till(p_froms[i], length(c.cells)) <= p_tills[i]
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- A snapshot from before the lock may lack an item that was freed since. READ COMMITTED takes a new one.
        PERFORM {schema}.check_isolation();
        kept := {schema}.bank_without_empty(p_bank, known, p_froms[i], p_tills[i]);
        IF kept <> known THEN
            UPDATE {schema}.bank_cells c SET cells = kept WHERE c.bank = p_bank AND c.section = one;
        END IF;
        IF NOT p_is_joined AND position(B'1' IN kept) = 0 THEN
            PERFORM {schema}.bank_empty_section(p_bank, one);
        END IF;
    END LOOP;
END $$;
