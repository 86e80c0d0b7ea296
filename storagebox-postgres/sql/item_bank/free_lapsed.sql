-- S-2, IB-6 Frees the items of at most `p_limit` lapsed holds, in each bank the earliest first.
-- Returns the number of freed items.
CREATE OR REPLACE FUNCTION {schema}.bank_free_lapsed(p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    asked  timestamptz := {schema}.clock();
    one    bigint;
    places tid[];
    hs     bigint[];
    items  text[];
    freed  bigint := 0;
BEGIN
    FOR one IN SELECT b.namespace FROM {schema}.namespaces b WHERE b.kind = 'bank' ORDER BY b.namespace LOOP
        EXIT WHEN freed >= p_limit;
        SELECT pg_catalog.array_agg(l.place), pg_catalog.array_agg(l.h), pg_catalog.array_agg(l.item) INTO places, hs, items FROM (
            SELECT c.ctid AS place, c.h, c.item FROM {schema}.claims c WHERE c.bank = one AND c.until <= asked
            ORDER BY c.until LIMIT p_limit - freed FOR UPDATE SKIP LOCKED
        ) l;
        freed := freed + {schema}.bank_end_lapsed(one, places, hs, items);
    END LOOP;
    RETURN freed;
END $$;
