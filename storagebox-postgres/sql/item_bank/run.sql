-- Where to look for free items in the section of this hash, from there on; null if there are none.
CREATE OR REPLACE FUNCTION {schema}.bank_run(p_bank bigint, p_from bigint, OUT lowest bigint, OUT highest bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cells bit varying;
BEGIN
    SELECT c.cells INTO cells FROM {schema}.bank_cells c
    WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(p_from);
    lowest := {schema}.bank_run_start(cells, p_from);
    highest := {schema}.bank_run_end(cells, lowest);
END $$;
