-- IB-6 Makes the hold of a claim permanent.
-- Returns one row: confirmed item | ended | unknown
CREATE OR REPLACE FUNCTION {schema}.confirm(bank text, claim text) RETURNS TABLE (outcome text, item text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    shown text[];
BEGIN
    PERFORM {schema}.check_text('claim', claim);
    SELECT * INTO known FROM {schema}.namespace_named('bank', bank, '', NULL);
    shown := {schema}.bank_confirm(known.number, claim, {schema}.random_number(), false, known.memory);
    outcome := CASE shown[1] WHEN 'again' THEN 'confirmed' ELSE shown[1] END;
    item := CASE shown[1] WHEN 'again' THEN shown[2] END;
    RETURN NEXT;
END $$;
