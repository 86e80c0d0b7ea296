-- IB-1 Gives a claim a free item: deletes the item from `free_items` in the step that inserts the claim.
-- IB-3 A known claim gets its item again. A concurrent first take of the same claim fails on the unique index (23505):
-- its item stays free, and the client repeats the take.
-- S-4 Checks the namespace in the read of the claim, in place of `is_namespace`.
-- IB-8 Each taker searches from its own place (`p_start`), so that no taker scans the dead rows of all others. `p_till`
-- is a hint from an earlier take: more items may be free up to there, so the cells need not be read. `p_since` is where
-- the taker last cleared bits of cells, or null in a transaction of the caller.
-- ER-5 An attempt whose call (`p_call`) is void takes nothing. A repeated attempt that gets 'empty' makes its call
-- void.
-- Returns new item hash till | again item until | ended why | empty | busy | open: 'empty', but the call is not void
CREATE OR REPLACE FUNCTION {schema}.bank_take(
    p_bank bigint, p_epoch bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_hold bigint, p_memory bigint,
    p_start bigint, p_till bigint, p_since bigint
) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s'
-- One generic plan: the arguments of a call do not help to find a better one.
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    asked timestamptz := {schema}.clock();
    known record;
    shown text[];
    got   record;
BEGIN
    SELECT c.state, c.item, c.until, c.ended_at INTO known
    FROM {schema}.namespaces b LEFT JOIN {schema}.claims c ON c.bank = b.namespace AND c.claim = p_claim
    WHERE b.namespace = p_bank AND b.epoch = p_epoch
      AND current_setting('transaction_read_only') = 'off' AND current_setting('transaction_isolation') = 'read committed'
      AND '{schema}.claims_by_claim'::regclass IS NOT NULL AND '{schema}.free_items_pkey'::regclass IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM {schema}.is_namespace(p_bank, p_epoch);
    END IF;
    IF known.state IS NOT NULL THEN
        shown := {schema}.bank_claim_view(known.state, known.item, known.until, known.ended_at, p_memory, asked);
        IF shown[1] = 'ended' AND known.state = 'held' THEN
            -- A step that is not committed may have extended or confirmed the hold in time.
            shown := (SELECT l.shown FROM {schema}.bank_lock(p_bank, p_claim, p_memory) l);
        END IF;
        IF shown[1] = 'unknown' THEN
            RETURN {schema}.bank_take_after_void(
                p_bank, p_claim, p_call, p_is_repeated, p_hold, p_memory, p_start, p_since
            );
        ELSIF shown[1] <> 'forgotten' THEN
            RETURN shown;
        END IF;
        PERFORM {schema}.bank_lock(p_bank, p_claim, p_memory);
        asked := {schema}.clock();
    END IF;
    IF p_till IS NOT NULL THEN
        WITH picked AS (
            DELETE FROM {schema}.free_items f WHERE f.ctid = (
                SELECT i.ctid FROM {schema}.free_items i
                WHERE i.bank = p_bank AND i.h >= p_start AND i.h <= p_till
                ORDER BY i.h LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING f.h, f.item
        )
        INSERT INTO {schema}.claims AS c (bank, claim, state, h, item, until)
        SELECT p_bank, p_claim, 'held', p.h, p.item, asked + {schema}.interval_of(p_hold) FROM picked p
        RETURNING c.h, c.item INTO got;
        IF FOUND THEN
            IF p_hold IS NOT NULL THEN
                PERFORM {schema}.bank_hold_from(p_bank, p_claim, p_hold, asked);
            END IF;
            RETURN ARRAY['new', got.item, got.h::text, p_till::text];
        END IF;
    END IF;
    RETURN {schema}.bank_take_ahead(
        p_bank, p_claim, CASE WHEN p_is_repeated THEN p_call END, p_hold, p_memory, p_start, p_since
    );
END $$;
