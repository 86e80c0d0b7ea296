-- IB-8 takes their bits from cells in which a taker found nothing, from each of these hashes till the other, where nobody is
-- about to put an item: with the lock, a fresh look finds every item that is there, also one whose taker may yet give it back.
-- A section without cells that have bits loses its own. The last thing that a step does: it waits for nobody, and nobody waits
-- for it for long.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_cells(p_bank bigint, p_froms bigint[], p_tills bigint[]) RETURNS void
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
        -- A snapshot of before the lock may lack an item that was put back meanwhile.
        PERFORM {schema}.check_isolation();
        kept := {schema}.bank_without_empty(p_bank, known, p_froms[i], p_tills[i]);
        IF kept <> known THEN
            UPDATE {schema}.bank_cells c SET cells = kept WHERE c.bank = p_bank AND c.section = one;
        END IF;
        IF position(B'1' IN kept) = 0 THEN
            PERFORM {schema}.bank_empty_section(p_bank, one);
        END IF;
    END LOOP;
END $$;
