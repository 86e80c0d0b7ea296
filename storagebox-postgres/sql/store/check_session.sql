-- Checks the session of every call, also of reads: a server that is read-only may be far behind, and never catches up
-- once it is cut off from its primary.
CREATE OR REPLACE FUNCTION {schema}.check_session() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_read_only') <> 'off' THEN
        RAISE EXCEPTION 'the server, the session or the transaction is read-only' USING ERRCODE = '25006';
    END IF;
    PERFORM {schema}.check_isolation();
END $$;
