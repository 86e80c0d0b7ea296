-- ER-5 Finishes `bank_take` for a claim whose row means only that some of its calls are void. They stay void if another
-- call takes an item.
-- The void calls are read under the lock of the row, so an attempt sees the refusal of its call here, whatever it read
-- before.
-- Returns what `bank_take` returns.
CREATE OR REPLACE FUNCTION {schema}.bank_take_after_void(
    p_bank bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_hold bigint, p_memory bigint, p_start bigint,
    p_since bigint
) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known record;
    shown text[];
    place tid;
BEGIN
    SELECT * INTO known FROM {schema}.bank_lock(p_bank, p_claim, p_memory);
    IF known.shown[1] <> 'unknown' THEN
        RETURN known.shown;
    ELSIF p_call = ANY (known.void_calls) THEN
        RETURN ARRAY['empty'];
    ELSIF known.place IS NULL THEN
        RETURN {schema}.bank_take_ahead(
            p_bank, p_claim, CASE WHEN p_is_repeated THEN p_call END, p_hold, p_memory, p_start, p_since
        );
    END IF;
    -- Until this step ends, another insert of the claim waits for it, as for the row.
    DELETE FROM {schema}.claims c WHERE c.ctid = known.place;
    shown := {schema}.bank_take_ahead(p_bank, p_claim, NULL, p_hold, p_memory, p_start, p_since);
    IF shown[1] = 'new' THEN
        UPDATE {schema}.claims c SET void_calls = known.void_calls WHERE c.bank = p_bank AND c.claim = p_claim;
        RETURN shown;
    END IF;
    INSERT INTO {schema}.claims AS c (bank, claim, state, ended_at, void_calls)
    VALUES (p_bank, p_claim, 'void', known.ended_at, known.void_calls) RETURNING c.ctid INTO place;
    IF shown[1] = 'empty' AND p_is_repeated THEN
        RETURN ARRAY[{schema}.bank_refuse(p_bank, p_claim, p_call, place, known.void_calls, 'empty')];
    END IF;
    RETURN shown;
END $$;
