-- Deletes at most `p_limit` operations of one window that are past their retention. The caller has locked the counter.
-- Returns the number of deleted operations.
CREATE OR REPLACE FUNCTION {schema}.counter_purge(p_namespace bigint, p_key text, p_forgotten timestamptz, p_limit bigint)
RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM {schema}.counter_ops o WHERE o.ctid = ANY (ARRAY(
        SELECT k.ctid FROM {schema}.counter_ops k
        WHERE k.namespace = p_namespace AND k.key = p_key AND k.window_of_key AND k.at <= p_forgotten ORDER BY k.at LIMIT p_limit
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
