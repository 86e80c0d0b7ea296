-- D-1 Replaces the value of a record that has this version: of all calls that name one version, one gets 'replaced'.
-- D-3 A retry of that call gets 'again'.
-- Returns replaced version | again version | stale value version, with nulls if there is no record.
CREATE OR REPLACE FUNCTION {schema}.dedup_replace(
    p_namespace bigint, p_id text, p_version bigint, p_value bytea, p_op text, p_memory bigint
) RETURNS TABLE (outcome text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, p_op);
    outcome := 'stale';
    IF known.state = 'done' THEN
        version := known.version;
        IF known.replaced_by = p_op AND known.replaced_version = p_version THEN
            outcome := 'again';
        ELSIF known.version <> p_version THEN
            value := known.value;
        ELSE
            outcome := 'replaced';
            version := {schema}.next_number(known.version);
            UPDATE {schema}.records r
            SET value = p_value, version = dedup_replace.version, replaced_by = p_op, replaced_version = p_version
            WHERE r.ctid = known.place;
        END IF;
    END IF;
    RETURN NEXT;
END $$;
