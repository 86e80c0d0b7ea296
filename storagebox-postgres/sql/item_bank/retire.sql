-- IB-7 Ends the memory of an ended or confirmed claim. The item of a confirmed claim stays spent.
-- ER-5 An attempt whose call is void changes nothing. A repeated attempt that gets 'holding' makes its call void.
-- Returns retired | holding | unknown | open: 'holding', but the call is not void
CREATE OR REPLACE FUNCTION {schema}.bank_retire(
    p_bank bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_memory bigint
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.bank_lock(p_bank, p_claim, p_memory);
    IF p_call = ANY (known.void_calls) THEN
        RETURN 'holding';
    ELSIF known.shown[1] = 'unknown' THEN
        RETURN 'unknown';
    ELSIF known.shown[1] = 'again' AND known.shown[3] <> 'confirmed' THEN
        IF p_is_repeated THEN
            RETURN {schema}.bank_refuse(p_bank, p_claim, p_call, known.place, known.void_calls, 'holding');
        END IF;
        RETURN 'holding';
    ELSIF known.shown[1] = 'again' THEN
        UPDATE {schema}.claims c SET claim = NULL, void_calls = NULL WHERE c.ctid = known.place;
    ELSE
        PERFORM {schema}.bank_free(p_bank, known.h, known.item);
        DELETE FROM {schema}.claims c WHERE c.ctid = known.place;
    END IF;
    RETURN 'retired';
END $$;
