-- IB-6, IB-7 Locks the row of a claim, then reads the clock and judges the claim by it. If the memory of the claim is
-- over, deletes the claim and frees its item.
-- Returns the row, and in `shown`: again item until | ended why | unknown. An unknown claim may have a row with void
-- calls; `place` is null if it has no row.
CREATE OR REPLACE FUNCTION {schema}.bank_lock(
    p_bank bigint, p_claim text, p_memory bigint,
    OUT place tid, OUT h bigint, OUT item text, OUT until timestamptz, OUT ended_at timestamptz,
    OUT void_calls bigint[], OUT shown text[]
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    state text;
BEGIN
    SELECT c.ctid, c.h, c.item, c.until, c.state, c.ended_at, c.void_calls
    INTO place, h, item, until, state, ended_at, void_calls
    FROM {schema}.claims c WHERE c.bank = p_bank AND c.claim = p_claim FOR UPDATE;
    IF NOT FOUND THEN
        shown := ARRAY['unknown'];
        RETURN;
    END IF;
    shown := {schema}.bank_claim_view(state, item, until, ended_at, p_memory, {schema}.clock());
    IF shown[1] = 'forgotten' THEN
        PERFORM {schema}.bank_free(p_bank, h, item);
        DELETE FROM {schema}.claims c WHERE c.ctid = place;
        place := NULL;
        void_calls := NULL;
        shown := ARRAY['unknown'];
    END IF;
END $$;
