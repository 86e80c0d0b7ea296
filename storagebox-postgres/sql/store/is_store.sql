-- Whether the store is still the one that was opened, as every statement about all of it asks first.
CREATE OR REPLACE FUNCTION {schema}.is_store(p_epoch bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_session();
    IF EXISTS (SELECT FROM {schema}.store s WHERE s.epoch = p_epoch) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the store is not the one that was opened' USING ERRCODE = 'SB001';
END $$;
