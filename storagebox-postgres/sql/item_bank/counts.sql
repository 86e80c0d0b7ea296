-- IB-10 Counts the items of a bank by state, in one snapshot. Items of lapsed holds count as free.
CREATE OR REPLACE FUNCTION {schema}.bank_counts(p_bank bigint)
RETURNS TABLE (free bigint, held bigint, spent bigint, withdrawn bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    RETURN QUERY
    SELECT c.lapsed + (SELECT count(*) FROM {schema}.free_items f WHERE f.bank = p_bank), c.held, c.spent,
           (SELECT count(*) FROM {schema}.withdrawn_items w WHERE w.bank = p_bank)
    FROM (
        SELECT count(*) FILTER (WHERE k.until <= asked) AS lapsed,
               count(*) FILTER (WHERE k.state = 'held' AND (k.until IS NULL OR k.until > asked)) AS held,
               count(*) FILTER (WHERE k.state = 'spent') AS spent
        FROM {schema}.claims k WHERE k.bank = p_bank AND k.item IS NOT NULL
    ) c;
END $$;
