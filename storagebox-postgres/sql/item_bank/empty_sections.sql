-- IB-08 takes their bits from sections in which a taker found nothing, where nobody is about to put an item: with the lock, a
-- fresh look finds every item that is there, also one whose taker may yet give it back. The last thing that a step does: it
-- waits for nobody, and nobody waits for it for long.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_sections(p_bank bigint, p_sections integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    empty integer;
BEGIN
    FOREACH empty IN ARRAY coalesce(p_sections, ARRAY[]::integer[]) LOOP
        PERFORM FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part = empty / 64 FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        UPDATE {schema}.bank_sections s SET bits = s.bits & ~(1::bigint << (empty % 64))
        WHERE s.bank = p_bank AND s.part = empty / 64 AND NOT EXISTS (
            SELECT FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= {schema}.bank_section_start(empty)
              AND i.h <= {schema}.bank_section_end(empty)
        );
    END LOOP;
END $$;
