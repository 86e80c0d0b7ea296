-- IB-6 Extends a hold, unless it has lapsed. Never shortens a hold, so that a late copy of the call is harmless.
-- ER-5 An attempt whose call is void changes nothing. A repeated attempt that gets 'unknown' makes its call void.
-- Returns extended item until | again item confirmed | ended why | unknown | open: 'unknown', but the call is not void
CREATE OR REPLACE FUNCTION {schema}.bank_extend(
    p_bank bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_hold bigint, p_memory bigint
) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    now   timestamptz;
    til   timestamptz;
BEGIN
    SELECT * INTO known FROM {schema}.bank_lock(p_bank, p_claim, p_memory);
    IF p_call = ANY (known.void_calls) THEN
        RETURN ARRAY['unknown'];
    ELSIF known.shown[1] = 'unknown' AND p_is_repeated THEN
        RETURN ARRAY[{schema}.bank_refuse(p_bank, p_claim, p_call, known.place, known.void_calls, 'unknown')];
    ELSIF known.shown[1] <> 'again' OR known.shown[3] = 'confirmed' THEN
        RETURN known.shown;
    END IF;
    now := {schema}.clock();
    til := greatest(known.until, now + {schema}.interval_of(p_hold));
    IF known.until IS NULL OR p_hold IS NULL THEN
        til := NULL;
    END IF;
    UPDATE {schema}.claims c SET until = til WHERE c.ctid = known.place;
    RETURN ARRAY['extended', known.item, coalesce({schema}.micros_until(til, now)::text, 'forever')];
END $$;
