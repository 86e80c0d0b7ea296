-- Namespaces go by hand alone. Once none is left, the store is another one to whoever has opened it: a process that opens
-- its namespace again would find it empty, and would not know that it was not.
CREATE OR REPLACE FUNCTION {schema}.renew() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.namespaces b) THEN
        UPDATE {schema}.store s SET epoch = hashtextextended(gen_random_uuid()::text, 0::bigint);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER renew AFTER DELETE OR TRUNCATE ON {schema}.namespaces FOR EACH STATEMENT EXECUTE FUNCTION {schema}.renew();
