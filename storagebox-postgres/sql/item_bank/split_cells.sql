-- IB-8 Doubles the cells of the sections of these hashes until none of the checked cells has too many items. Checks the
-- cells of one hash in 32, chosen by the lowest bits, which do not depend on the hash's place.
-- Skips a section that another step has locked: a later step splits its cells.
CREATE OR REPLACE FUNCTION {schema}.bank_split_cells(p_bank bigint, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    crowded bigint[];
    one     bigint;
    known   bit varying;
BEGIN
    SELECT pg_catalog.array_agg(u.h ORDER BY u.h) INTO crowded
    FROM pg_catalog.unnest(p_hs) u(h) CROSS JOIN LATERAL (
        -- OFFSET 0: one lookup per item. A cached plan for all items may have been made for empty tables.
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
