-- IB-3, IB-6 Reads a claim.
-- Returns one row: held item remaining | confirmed item | released | expired | unknown. `remaining` is null for a hold
-- without an end.
CREATE OR REPLACE FUNCTION {schema}.get_claim(bank text, claim text)
RETURNS TABLE (outcome text, item text, remaining interval)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    shown text[];
BEGIN
    PERFORM {schema}.check_text('claim', claim);
    SELECT * INTO known FROM {schema}.namespace_named('bank', bank, '', NULL);
    shown := {schema}.bank_get(known.number, claim, known.memory);
    outcome := CASE shown[1] WHEN 'ended' THEN shown[2] ELSE 'unknown' END;
    IF shown[1] = 'again' THEN
        outcome := CASE shown[3] WHEN 'confirmed' THEN 'confirmed' ELSE 'held' END;
        item := shown[2];
        remaining := {schema}.remaining_of(shown[3]);
    END IF;
    RETURN NEXT;
END $$;
