-- O-3 Lists the values whose keys begin with the prefix, in the order of their keys, without tombstones.
-- The end of the prefix is the prefix and 128 times U+10FFFF, which no key with the prefix exceeds.
CREATE OR REPLACE FUNCTION {schema}.ordered_list(p_namespace bigint, p_prefix text, p_after text, p_limit bigint)
RETURNS TABLE (key text, value bytea, at bigint, writer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT v.key, v.value, v.at, v.writer FROM {schema}.ordered_values v
    WHERE v.namespace = p_namespace AND v.key > p_after AND v.key >= p_prefix AND v.key <= p_prefix || repeat(chr(1114111), 128)
      AND v.value IS NOT NULL
    ORDER BY v.key LIMIT p_limit;
END $$;
