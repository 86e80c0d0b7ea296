-- IB-06 ends lapsed holds and frees their items ahead of any taker: those of some items, or the first `p_limit` to lapse.
CREATE OR REPLACE FUNCTION {schema}.bank_reap(p_bank bigint, p_hs bigint[], p_items text[], p_limit bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now    timestamptz := {schema}.clock();
    lapsed record;
BEGIN
    FOR lapsed IN
        SELECT c.ctid, c.h, c.item FROM {schema}.claims c
        WHERE c.bank = p_bank AND c.until <= now
          AND (p_items IS NULL OR (c.h, c.item) IN (SELECT u.h, u.item FROM unnest(p_hs, p_items) u(h, item)))
        ORDER BY c.until LIMIT p_limit FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM {schema}.bank_free(p_bank, lapsed.h, lapsed.item);
        PERFORM {schema}.bank_end_claim(lapsed.ctid, 'expired', now);
    END LOOP;
END $$;
