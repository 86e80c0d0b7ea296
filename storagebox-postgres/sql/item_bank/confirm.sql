-- IB-6 Makes a hold permanent, unless it has lapsed: the item is spent.
-- ER-5 An attempt whose call is void changes nothing. A repeated attempt that gets 'unknown' makes its call void.
-- Returns the claim as it was before: again item until | ended why | unknown | open: 'unknown', but the call is not
-- void
CREATE OR REPLACE FUNCTION {schema}.bank_confirm(
    p_bank bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_memory bigint
) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.bank_lock(p_bank, p_claim, p_memory);
    IF p_call = ANY (known.void_calls) THEN
        RETURN ARRAY['unknown'];
    ELSIF known.shown[1] = 'unknown' AND p_is_repeated THEN
        RETURN ARRAY[{schema}.bank_refuse(p_bank, p_claim, p_call, known.place, known.void_calls, 'unknown')];
    ELSIF known.shown[1] = 'again' AND known.shown[3] <> 'confirmed' THEN
        UPDATE {schema}.claims c SET state = 'spent', until = NULL WHERE c.ctid = known.place;
    END IF;
    RETURN known.shown;
END $$;
