-- IB-8 doubles the cells of sections that have grown, as often as it takes until few items are in each. It looks at the cell of
-- one item in 32, by bits of its hash that say nothing of its place. It waits for nobody: what is not split now is so later.
CREATE OR REPLACE FUNCTION {schema}.bank_split_cells(p_bank bigint, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    crowded bigint[];
    one     bigint;
    known   bit varying;
BEGIN
    SELECT pg_catalog.array_agg(u.h ORDER BY u.h) INTO crowded
    FROM pg_catalog.unnest(p_hs) u(h) CROSS JOIN LATERAL (
        -- One look for each item, and never a plan for all at once, made when the tables were empty.
        SELECT c.section, {schema}.bank_cell_of(u.h, length(c.cells)) AS cell, length(c.cells) AS count
        FROM {schema}.bank_cells c WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(u.h) OFFSET 0
    ) s CROSS JOIN LATERAL (
        SELECT count(*) FROM (
            SELECT FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= {schema}.bank_cell_start(s.section, s.cell, s.count)
              AND i.h <= {schema}.bank_cell_end(s.section, s.cell, s.count) LIMIT 17
        ) few
    ) n(free)
    WHERE u.h & 31::bigint = 0::bigint AND s.count < 4096 AND n.free > 16::bigint;
    FOREACH one IN ARRAY coalesce(crowded, ARRAY[]::bigint[]) LOOP
        SELECT c.cells INTO known FROM {schema}.bank_cells c
        WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(one) FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        WHILE {schema}.bank_is_crowded(p_bank, one, length(known)) LOOP
            known := replace(replace(known::text, '0', '00'), '1', '11')::bit varying;
        END LOOP;
        UPDATE {schema}.bank_cells c SET cells = known
        WHERE c.bank = p_bank AND c.section = {schema}.bank_section_of(one);
    END LOOP;
END $$;
