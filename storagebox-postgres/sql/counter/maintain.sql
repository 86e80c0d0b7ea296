-- S-2 Deletes at most `p_limit` operations that are past their retention. Operations of a window are deleted under the
-- lock of their counter, which stores their number. A counter at 0 is deleted with its last operation.
-- Returns the number of deleted operations.
CREATE OR REPLACE FUNCTION {schema}.counter_maintain(p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked     timestamptz := {schema}.clock();
    forgotten timestamptz;
    one       record;
    cell      record;
    full_key  text;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.namespace, b.keeps FROM {schema}.namespaces b WHERE b.kind = 'counters' AND b.keeps IS NOT NULL ORDER BY b.namespace LOOP
        forgotten := {schema}.forgotten_before(one.keeps, asked);
        FOR full_key IN
            SELECT DISTINCT o.key FROM (
                SELECT k.key FROM {schema}.counter_ops k WHERE k.namespace = one.namespace AND k.at <= forgotten AND k.window_of_key
                ORDER BY k.at LIMIT p_limit - removed
            ) o ORDER BY o.key
        LOOP
            SELECT c.ctid AS place, c.value, c.ops INTO cell FROM {schema}.counters c
            WHERE c.namespace = one.namespace AND c.key = full_key FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            part := {schema}.counter_purge(one.namespace, full_key, forgotten, p_limit - removed);
            IF cell.value = 0::numeric AND cell.ops = part THEN
                DELETE FROM {schema}.counters c WHERE c.ctid = cell.place;
            ELSE
                UPDATE {schema}.counters c SET ops = c.ops - part WHERE c.ctid = cell.place AND part > 0;
            END IF;
            removed := removed + part;
        END LOOP;
        DELETE FROM {schema}.counter_ops o WHERE o.ctid = ANY (ARRAY(
            SELECT k.ctid FROM {schema}.counter_ops k
            WHERE k.namespace = one.namespace AND k.at <= forgotten AND NOT k.window_of_key
            ORDER BY k.at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
