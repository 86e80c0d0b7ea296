-- IB-6, IB-7 Judges the row of a claim by the clock.
-- Returns again item until | ended why | forgotten | unknown. `unknown` is a row that means only that some calls are
-- void (ER-5). `until` is 'forever', 'confirmed' or the remaining microseconds.
CREATE OR REPLACE FUNCTION {schema}.bank_claim_view(
    p_state text, p_item text, p_until timestamptz, p_ended_at timestamptz, p_memory bigint, p_now timestamptz
) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_state = 'spent' THEN
        RETURN ARRAY['again', p_item, 'confirmed'];
    ELSIF p_state = 'held' AND (p_until IS NULL OR p_until > p_now) THEN
        RETURN ARRAY['again', p_item, coalesce({schema}.micros_until(p_until, p_now)::text, 'forever')];
    ELSIF coalesce(p_ended_at, p_until) <= {schema}.forgotten_before(p_memory, p_now) THEN
        RETURN ARRAY['forgotten'];
    ELSIF p_state = 'void' THEN
        RETURN ARRAY['unknown'];
    END IF;
    RETURN ARRAY['ended', CASE p_state WHEN 'held' THEN 'expired' ELSE p_state END];
END $$;
