-- Checks that the session is not read-only, and that its isolation level is READ COMMITTED. Every call makes this
-- check, also a read: a read-only server may be far behind its primary, and may never catch up.
CREATE OR REPLACE FUNCTION {schema}.check_session() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_read_only') <> 'off' THEN
        RAISE EXCEPTION 'the server, the session or the transaction is read-only' USING ERRCODE = '25006';
    END IF;
    PERFORM {schema}.check_isolation();
END $$;
