-- Checks that the isolation level is READ COMMITTED. At other levels a step that waited and reads again does not see
-- what others have committed meanwhile: an item could be given twice (IB-1), or a fence could be missed (D-7).
CREATE OR REPLACE FUNCTION {schema}.check_isolation() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'storagebox needs transactions at READ COMMITTED' USING ERRCODE = 'SB002';
    END IF;
END $$;
