-- Finishes `bank_take` after a search of all sections, in the ranges `p_froms` to `p_tills`, that found no free item.
-- IB-6 Takes the item of a lapsed hold, and ends the lapsed claim in the same step.
-- IB-4 Returns 'empty' only if reads without locks find no lapsed hold and then no free item. In this order, the reads
-- miss no item that upkeep frees in between. Returns 'busy' if other steps have locked the last items.
-- IB-3 Before 'empty' the claim is read again: a concurrent take of the same claim may have got the last item.
-- ER-5 'empty' makes the call `p_voids` void, if it is not null. This may wait for another take of the claim, so it
-- comes before the cells are locked (ADR 13).
-- Returns new item hash till | again item until | ended why | empty | busy | open
CREATE OR REPLACE FUNCTION {schema}.bank_take_lapsed(
    p_bank bigint, p_claim text, p_voids bigint, p_hold bigint, p_memory bigint, p_froms bigint[], p_tills bigint[],
    p_is_joined boolean
) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked  timestamptz := {schema}.clock();
    first  CONSTANT timestamptz := coalesce((SELECT l.since FROM {schema}.bank_lapses l WHERE l.bank = p_bank), '-infinity');
    before CONSTANT bigint := pg_stat_get_xact_blocks_fetched('{schema}.claims'::regclass);
    lapsed record;
    shown  text[];
BEGIN
    PERFORM {schema}.check_isolation();
    SELECT c.ctid, c.h, c.item INTO lapsed FROM {schema}.claims c
    WHERE c.bank = p_bank AND c.until >= first AND c.until <= asked ORDER BY c.until LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM {schema}.bank_end_claim(lapsed.ctid, 'expired', asked);
        INSERT INTO {schema}.claims (bank, claim, state, h, item, until)
        VALUES (p_bank, p_claim, 'held', lapsed.h, lapsed.item, asked + {schema}.interval_of(p_hold));
        IF p_hold IS NOT NULL THEN
            PERFORM {schema}.bank_hold_from(p_bank, p_claim, p_hold, asked);
        END IF;
        shown := ARRAY['new', lapsed.item, lapsed.h::text, lapsed.h::text];
    ELSIF EXISTS (SELECT FROM {schema}.claims c WHERE c.bank = p_bank AND c.until >= first AND c.until <= asked)
        OR {schema}.bank_has_free(p_bank) THEN
        shown := ARRAY['busy'];
    ELSE
        shown := {schema}.bank_get(p_bank, p_claim, p_memory);
        IF shown[1] = 'unknown' AND p_voids IS NULL THEN
            shown := ARRAY['empty'];
        ELSIF shown[1] = 'unknown' THEN
            shown := ARRAY[{schema}.bank_refuse(p_bank, p_claim, p_voids, NULL, NULL, 'empty')];
        END IF;
    END IF;
    -- More than 32 pages of `claims` were read: many of them have only dead rows of ended holds.
    IF NOT p_is_joined AND pg_stat_get_xact_blocks_fetched('{schema}.claims'::regclass) > before + 32 THEN
        PERFORM {schema}.bank_advance_lapse_bound(p_bank, asked);
    END IF;
    PERFORM {schema}.bank_empty_cells(p_bank, p_froms, p_tills, p_is_joined);
    RETURN shown;
END $$;
