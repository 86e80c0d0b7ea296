-- Whether a namespace is still the one that was opened (S-4), as every statement about it asks first: a schema that was
-- emptied, made anew or put back has none of this epoch, and what was in it is not there. Once it was asked, nobody
-- truncates or drops `namespaces` before the statement ends; of rows that somebody deletes in that moment the next statement
-- is told.
CREATE OR REPLACE FUNCTION {schema}.is_namespace(p_namespace bigint, p_epoch bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    IF EXISTS (SELECT FROM {schema}.namespaces b WHERE b.namespace = p_namespace AND b.epoch = p_epoch) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the namespace is not the one that was opened' USING ERRCODE = 'SB001';
END $$;
