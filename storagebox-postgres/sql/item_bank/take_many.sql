-- Many takes in one step, for calls that came while another was under way. Each claim stands once in the array.
-- IB-01, IB-03, IB-08 as for `bank_take`. Answers those claims that got an item, with their items and the last place; a
-- claim that is known already, or that nothing was left for here, is to be taken alone. Claims are written in their own
-- order, so that two such steps wait in one order for each other's.
CREATE OR REPLACE FUNCTION {schema}.bank_take_many(
    p_bank bigint, p_claims text[], p_holds bigint[], p_start bigint
) RETURNS TABLE (claims text[], items text[], h bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    holds bigint[];
    hs    bigint[];
BEGIN
    SELECT array_agg(u.claim ORDER BY u.claim), array_agg(u.hold ORDER BY u.claim) INTO claims, holds
    FROM unnest(p_claims, p_holds) u(claim, hold)
    WHERE NOT EXISTS (SELECT FROM {schema}.claims c WHERE c.bank = p_bank AND c.claim = u.claim);
    WITH picked AS (
        DELETE FROM {schema}.free_items f WHERE f.ctid = ANY (ARRAY(
            SELECT i.ctid FROM {schema}.free_items i WHERE i.bank = p_bank AND i.h >= p_start
            ORDER BY i.h LIMIT coalesce(cardinality(claims), 0) FOR UPDATE SKIP LOCKED
        )) RETURNING f.h, f.item
    )
    SELECT array_agg(p.h), array_agg(p.item), max(p.h) INTO hs, items, h FROM picked p;
    INSERT INTO {schema}.claims (bank, claim, state, h, item, until)
    SELECT p_bank, u.claim, 'held', u.h, u.item, {schema}.clock() + u.hold * interval '1 microsecond'
    FROM unnest(claims, holds, hs, items) u(claim, hold, h, item) WHERE u.item IS NOT NULL;
    RETURN NEXT;
END $$;
