-- S-4 Checks that the store is still the one that was opened, and the session (`check_session`). Every statement about
-- the whole store calls this first.
-- Returns true, or fails.
CREATE OR REPLACE FUNCTION {schema}.is_store(p_epoch bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_session();
    IF EXISTS (SELECT FROM {schema}.store s WHERE s.epoch = p_epoch) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the store is not the one that was opened' USING ERRCODE = 'SB001';
END $$;
