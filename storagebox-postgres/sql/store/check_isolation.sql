-- What looks again after it waited must see what others committed meanwhile: at any other isolation than READ COMMITTED it
-- would not, and an item could be given twice (IB-1) or a fence be overlooked (D-7).
CREATE OR REPLACE FUNCTION {schema}.check_isolation() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'storagebox needs transactions at READ COMMITTED' USING ERRCODE = 'SB002';
    END IF;
END $$;
