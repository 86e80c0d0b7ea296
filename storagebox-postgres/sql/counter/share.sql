-- C-2 Returns the part of a bound that one of `p_count` shards has. The parts add up to the bound.
CREATE OR REPLACE FUNCTION {schema}.counter_share(p_bound bigint, p_count integer, p_shard integer) RETURNS numeric
LANGUAGE sql IMMUTABLE RETURN
    (p_bound / p_count)::numeric
    + CASE WHEN p_shard < abs(p_bound % p_count::bigint) THEN sign(p_bound::numeric) ELSE 0::numeric END;
