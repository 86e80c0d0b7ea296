-- D-7 Deletes a record if it has this version, and fences the operation that made it.
-- Returns forgotten | absent | stale value version
CREATE OR REPLACE FUNCTION {schema}.dedup_forget(p_namespace bigint, p_id text, p_version bigint, p_memory bigint)
RETURNS TABLE (outcome text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, NULL);
    IF known.state = 'done' AND known.version = p_version THEN
        PERFORM {schema}.record_end(p_namespace, p_id, known.now);
        outcome := 'forgotten';
    ELSIF known.state = 'done' THEN
        outcome := 'stale';
        value := known.value;
        version := known.version;
    ELSE
        outcome := 'absent';
    END IF;
    RETURN NEXT;
END $$;
