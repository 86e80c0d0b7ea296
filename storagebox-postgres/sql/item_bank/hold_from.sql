-- IB-6 Finishes a step that gave a claim an item for a limited time. Lets takers find the hold when it lapses. Restarts
-- the hold if the step has waited for other steps, so that the hold lasts as long as requested.
CREATE OR REPLACE FUNCTION {schema}.bank_hold_from(p_bank bigint, p_claim text, p_hold bigint, p_asked timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM {schema}.bank_hold_until(p_bank, p_asked + {schema}.interval_of(p_hold));
    IF {schema}.has_waited(p_asked) THEN
        PERFORM {schema}.bank_restart_holds(p_bank, ARRAY[p_claim], ARRAY[p_hold]);
    END IF;
END $$;
