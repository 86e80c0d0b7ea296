-- The rest of a take that found no free item, in none of the sections that may have one: from where to where each was looked at.
-- IB-6 the item of a hold that has lapsed is free, without a worker; its claim is ended in the same step.
-- IB-4 'empty' only after a look without locks found nothing lapsed and then nothing free, so that no item is missed which
--       upkeep frees in between; what others have locked is 'busy'.
-- IB-3 then the claim is looked at once more: another take of it may have got the last item.
CREATE OR REPLACE FUNCTION {schema}.bank_take_lapsed(
    p_bank bigint, p_claim text, p_hold bigint, p_memory bigint, p_froms bigint[], p_tills bigint[]
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
        shown := CASE shown[1] WHEN 'unknown' THEN ARRAY['empty'] ELSE shown END;
    END IF;
    -- So many pages of `claims` were read as no look needs that meets few of the holds that have ended.
    IF pg_stat_get_xact_blocks_fetched('{schema}.claims'::regclass) > before + 32 THEN
        PERFORM {schema}.bank_advance_lapse_bound(p_bank, asked);
    END IF;
    PERFORM {schema}.bank_empty_cells(p_bank, p_froms, p_tills);
    RETURN shown;
END $$;
