-- IB-6 Ends lapsed holds and frees their items. The caller has locked the rows of the claims.
-- Inserts the items in the order of their hashes, as all steps that free items do, so that these steps lock in one
-- order.
-- Returns the number of freed items.
CREATE OR REPLACE FUNCTION {schema}.bank_end_lapsed(p_bank bigint, p_places tid[], p_hs bigint[], p_items text[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO {schema}.free_items SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item) ORDER BY u.h, u.item
    ON CONFLICT DO NOTHING;
    PERFORM {schema}.bank_fill_sections(p_bank, p_hs);
    UPDATE {schema}.claims c
    SET state = 'expired', h = NULL, item = NULL, until = NULL, ended_at = c.until WHERE c.ctid = ANY (p_places);
    RETURN coalesce(pg_catalog.cardinality(p_places), 0);
END $$;
