-- IB-3, IB-6 Reads a claim. Reads the clock first, so that a hold that is extended meanwhile does not count as lapsed.
-- Returns again item until | ended why | unknown
CREATE OR REPLACE FUNCTION {schema}.bank_get(p_bank bigint, p_claim text, p_memory bigint) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
    shown text[];
BEGIN
    SELECT {schema}.bank_claim_view(c.state, c.item, c.until, c.ended_at, p_memory, asked) INTO shown
    FROM {schema}.claims c WHERE c.bank = p_bank AND c.claim = p_claim;
    RETURN CASE WHEN shown[1] <> 'forgotten' THEN shown ELSE ARRAY['unknown'] END;
END $$;
