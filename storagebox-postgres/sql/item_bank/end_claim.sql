-- IB-7 Ends a claim as 'released' or 'expired'. The caller has locked the claim's row, and frees the item or gives it
-- to another claim.
CREATE OR REPLACE FUNCTION {schema}.bank_end_claim(p_place tid, p_why text, p_now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE {schema}.claims c
    SET state = p_why, h = NULL, item = NULL, until = NULL,
        ended_at = CASE p_why WHEN 'expired' THEN c.until ELSE p_now END
    WHERE c.ctid = p_place
$$;
