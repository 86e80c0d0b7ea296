-- IB-6 Restarts the holds of claims that the caller has just inserted after waiting for other transactions.
CREATE OR REPLACE FUNCTION {schema}.bank_restart_holds(p_bank bigint, p_claims text[], p_holds bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now timestamptz := {schema}.clock();
BEGIN
    FOR i IN 1 .. coalesce(pg_catalog.cardinality(p_claims), 0) LOOP
        UPDATE {schema}.claims c SET until = now + {schema}.interval_of(p_holds[i])
        WHERE c.bank = p_bank AND c.claim = p_claims[i] AND p_holds[i] IS NOT NULL;
    END LOOP;
END $$;
