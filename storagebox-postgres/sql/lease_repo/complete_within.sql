-- J-4 Completes within a transaction of the caller. If the lease is over, ends the transaction: what the caller did
-- under the lease must not be committed.
-- Returns one row as `lease_complete`, but never 'fenced'.
CREATE OR REPLACE FUNCTION {schema}.lease_complete_within(
    p_namespace bigint, p_id text, p_op text, p_fence bigint, p_result bytea, p_retention bigint, p_memory bigint
) RETURNS TABLE (outcome text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    SELECT c.outcome, c.value, c.version INTO outcome, value, version
    FROM {schema}.lease_complete(p_namespace, p_id, p_op, p_fence, p_result, p_retention, p_memory) c;
    IF outcome = 'fenced' THEN
        RAISE EXCEPTION 'the lease is over' USING ERRCODE = 'SB004';
    END IF;
    RETURN NEXT;
END $$;
