-- S-2, O-3 Purges at most `p_limit` tombstones that are past their age, in namespaces with time stamps.
-- Returns the number of purged tombstones.
CREATE OR REPLACE FUNCTION {schema}.ordered_maintain(p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    one     record;
    removed bigint := 0;
BEGIN
    FOR one IN SELECT b.namespace, b.keeps FROM {schema}.namespaces b WHERE b.kind = 'ordered' AND b.keeps IS NOT NULL ORDER BY b.namespace LOOP
        EXIT WHEN removed >= p_limit;
        removed := removed + {schema}.ordered_purge(one.namespace, one.keeps, one.keeps / 1000, p_limit - removed);
    END LOOP;
    RETURN removed;
END $$;
