-- Gives the store a new epoch when the last namespace is deleted, which only an administrator does. The new epoch
-- refuses every process that has the store open. Otherwise such a process would find its namespace empty, and could not
-- know that data is lost.
CREATE OR REPLACE FUNCTION {schema}.renew() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.namespaces b) THEN
        UPDATE {schema}.store s SET epoch = hashtextextended(gen_random_uuid()::text, 0::bigint);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER renew AFTER DELETE OR TRUNCATE ON {schema}.namespaces FOR EACH STATEMENT EXECUTE FUNCTION {schema}.renew();
-- ALWAYS: also in sessions whose `session_replication_role` is `replica`.
ALTER TABLE {schema}.namespaces ENABLE ALWAYS TRIGGER renew;
