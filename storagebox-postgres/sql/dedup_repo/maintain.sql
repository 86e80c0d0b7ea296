-- S-2 Deletes at most `p_limit` rows: expired records, whose operations it fences, and lapsed leases whose memory is
-- over.
-- Returns the number of deleted rows.
CREATE OR REPLACE FUNCTION {schema}.dedup_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    asked     timestamptz := {schema}.clock();
    forgotten timestamptz := {schema}.forgotten_before(p_memory, asked);
    now       timestamptz;
    one       bigint;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.namespace FROM {schema}.namespaces b WHERE b.kind = 'records' ORDER BY b.namespace LOOP
        EXIT WHEN removed >= p_limit;
        WITH over AS (
            SELECT r.ctid AS place, r.id, r.op, r.state FROM {schema}.records r
            WHERE r.namespace = one AND r.until <= asked AND (r.state = 'done' OR r.until <= forgotten)
            ORDER BY r.until LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM {schema}.records r WHERE r.ctid = ANY (ARRAY(SELECT o.place FROM over o))
        ), fenced AS (
            INSERT INTO {schema}.ended_ops AS e SELECT one, o.id, o.op, asked FROM over o WHERE o.state = 'done' ORDER BY o.id
            ON CONFLICT (namespace, id, op) DO UPDATE SET since = excluded.since
        )
        SELECT count(*) INTO part FROM over;
        IF {schema}.has_waited(asked) THEN
            now := {schema}.clock();
            UPDATE {schema}.ended_ops e SET since = now WHERE e.namespace = one AND e.since = asked;
        END IF;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
