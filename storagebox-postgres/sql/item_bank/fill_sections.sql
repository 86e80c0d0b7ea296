-- IB-8 Sets the bits of the sections and cells of these hashes. Every step that frees items calls this afterwards.
-- Its locks keep out only steps that would clear a bit before this step ends.
-- All steps lock in one order: the cells by section, then the rows of `bank_sections`.
CREATE OR REPLACE FUNCTION {schema}.bank_fill_sections(p_bank bigint, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sections integer[];
    lacking  bigint[];
    one      record;
    known    bigint;
BEGIN
    PERFORM {schema}.check_isolation();
    sections := ARRAY(SELECT DISTINCT {schema}.bank_section_of(h) AS section FROM pg_catalog.unnest(p_hs) h ORDER BY 1);
    PERFORM FROM {schema}.bank_cells c WHERE c.bank = p_bank AND c.section = ANY (sections) ORDER BY c.section FOR KEY SHARE;
    -- The lock may show a row as it was before an update that it has waited for. A new statement shows it as it is.
    SELECT pg_catalog.array_agg(h) INTO lacking
    FROM pg_catalog.unnest(p_hs) h
    LEFT JOIN {schema}.bank_cells c ON c.bank = p_bank AND c.section = {schema}.bank_section_of(h)
    WHERE (get_bit(c.cells, {schema}.bank_cell_of(h, length(c.cells))) = 1) IS NOT TRUE;
    FOR one IN
        SELECT {schema}.bank_section_of(h) AS section, pg_catalog.array_agg(h) AS hs
        FROM pg_catalog.unnest(lacking) h GROUP BY 1 ORDER BY 1
    LOOP
        PERFORM {schema}.bank_fill_cells(p_bank, one.section, one.hs);
    END LOOP;
    FOR one IN
        SELECT u.section / 64 AS part, bit_or(1::bigint << (u.section % 64)) AS bits
        FROM (SELECT {schema}.bank_section_of(h) AS section FROM pg_catalog.unnest(p_hs) h) u GROUP BY 1 ORDER BY 1
    LOOP
        SELECT s.bits INTO known FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part = one.part;
        IF NOT FOUND OR known & one.bits <> one.bits THEN
            INSERT INTO {schema}.bank_sections AS s VALUES (p_bank, one.part, one.bits)
            ON CONFLICT (bank, part) DO UPDATE SET bits = s.bits | excluded.bits;
        END IF;
    END LOOP;
    PERFORM {schema}.bank_split_cells(p_bank, p_hs);
END $$;
