-- Namespaces are only deleted by hand. Once none is left, the store gets a new epoch, which refuses every process that has it
-- open: such a process would find its namespace empty, and would not know that it held something.
CREATE OR REPLACE FUNCTION {schema}.renew() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.namespaces b) THEN
        UPDATE {schema}.store s SET epoch = hashtextextended(gen_random_uuid()::text, 0::bigint);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER renew AFTER DELETE OR TRUNCATE ON {schema}.namespaces FOR EACH STATEMENT EXECUTE FUNCTION {schema}.renew();
-- Also where a session plays the part of a replica.
ALTER TABLE {schema}.namespaces ENABLE ALWAYS TRIGGER renew;
