-- Ends a claim whose row the caller has locked, as 'released' or 'expired' (IB-7); its item is the caller's to place.
CREATE OR REPLACE FUNCTION {schema}.bank_end_claim(p_place tid, p_why text, p_now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE {schema}.claims c
    SET state = p_why, h = NULL, item = NULL, until = NULL,
        ended_at = CASE p_why WHEN 'expired' THEN c.until ELSE p_now END
    WHERE c.ctid = p_place
$$;
