-- IB-1 Reads the state of an item and its claim, in one snapshot. The item of a lapsed hold is free.
-- Returns no row if the item is unknown.
CREATE OR REPLACE FUNCTION {schema}.bank_holder(p_bank bigint, p_h bigint, p_item text)
RETURNS TABLE (state text, claim text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    RETURN QUERY
    SELECT 'free', NULL FROM {schema}.free_items f WHERE f.bank = p_bank AND f.h = p_h AND f.item = p_item
    UNION ALL
    SELECT 'withdrawn', NULL FROM {schema}.withdrawn_items w WHERE w.bank = p_bank AND w.h = p_h AND w.item = p_item
    UNION ALL
    SELECT CASE WHEN c.until <= asked THEN 'free' ELSE c.state END, c.claim
    FROM {schema}.claims c WHERE c.bank = p_bank AND c.h = p_h AND c.item = p_item;
END $$;
