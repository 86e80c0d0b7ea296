-- IB-10 Lists the items of a bank in the order of their hashes, whatever their state. A page is one snapshot, and the
-- state of an item does not change its place, so an item that does not change is listed exactly once.
CREATE OR REPLACE FUNCTION {schema}.bank_list(p_bank bigint, p_after_h bigint, p_after_item text, p_limit bigint)
RETURNS TABLE (h bigint, item text, state text, claim text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    RETURN QUERY
    (SELECT f.h, f.item, 'free', NULL FROM {schema}.free_items f
     WHERE f.bank = p_bank AND (f.h, f.item) > (p_after_h, p_after_item) ORDER BY f.h, f.item LIMIT p_limit)
    UNION ALL
    (SELECT w.h, w.item, 'withdrawn', NULL FROM {schema}.withdrawn_items w
     WHERE w.bank = p_bank AND (w.h, w.item) > (p_after_h, p_after_item) ORDER BY w.h, w.item LIMIT p_limit)
    UNION ALL
    (SELECT c.h, c.item, CASE WHEN c.until <= asked THEN 'free' ELSE c.state END, c.claim FROM {schema}.claims c
     WHERE c.bank = p_bank AND c.item IS NOT NULL AND c.h >= p_after_h AND (c.h, c.item) > (p_after_h, p_after_item)
     ORDER BY c.h, c.item LIMIT p_limit)
    ORDER BY 1, 2 LIMIT p_limit;
END $$;
