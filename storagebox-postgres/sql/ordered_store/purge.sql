-- O-3 Purges at most `p_limit` tombstones that arrived `p_age` microseconds ago or earlier. With time stamps, purges
-- only tombstones whose stamp is more than `p_horizon` milliseconds behind the clock: an older write that arrives after
-- the purge is too old. `p_horizon` is null with sequence numbers.
-- Returns the number of purged tombstones.
CREATE OR REPLACE FUNCTION {schema}.ordered_purge(p_namespace bigint, p_age bigint, p_horizon bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    now     timestamptz := {schema}.clock();
    removed bigint;
BEGIN
    DELETE FROM {schema}.ordered_values v WHERE v.ctid = ANY (ARRAY(
        SELECT o.ctid FROM {schema}.ordered_values o
        WHERE o.namespace = p_namespace AND o.value IS NULL AND o.arrived <= now - {schema}.interval_of(p_age)
          AND (p_horizon IS NULL OR o.at < {schema}.millis_of(now) - p_horizon)
        ORDER BY o.arrived LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
