-- IB-7 Ends a claim and frees its item; fences an unknown claim; leaves a confirmed claim as it is.
-- Returns one row: released | expired | confirmed
CREATE OR REPLACE FUNCTION {schema}.release(bank text, claim text) RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('claim', claim);
    SELECT * INTO known FROM {schema}.namespace_named('bank', bank, '', NULL);
    outcome := {schema}.bank_release(known.number, claim, known.memory);
    RETURN NEXT;
END $$;
