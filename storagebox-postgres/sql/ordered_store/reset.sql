-- O-6 Deletes the value or the tombstone of a key if its stamp is the one that the call names, under the row's lock.
-- Returns reset | absent | stale at writer
CREATE OR REPLACE FUNCTION {schema}.ordered_reset(p_namespace bigint, p_key text, p_at bigint, p_writer text)
RETURNS TABLE (outcome text, at bigint, writer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT v.ctid AS place, v.at, v.writer INTO known FROM {schema}.ordered_values v
    WHERE v.namespace = p_namespace AND v.key = p_key FOR UPDATE;
    IF known.place IS NULL THEN
        outcome := 'absent';
    ELSIF known.at = p_at AND known.writer = p_writer THEN
        DELETE FROM {schema}.ordered_values v WHERE v.ctid = known.place;
        outcome := 'reset';
    ELSE
        outcome := 'stale';
        at := known.at;
        writer := known.writer;
    END IF;
    RETURN NEXT;
END $$;
