-- ER-5 Refuses a repeated attempt, and makes its call void in the same step. The caller has locked the row of the claim
-- (`p_place`), which has the void calls `p_void`, or found no row.
-- A concurrent attempt that found no row also inserts a row for the same claim. The insert that waits for the other one
-- fails on the unique index (23505). Its client repeats the call, which then finds the other row.
-- Returns the refusal, or 'open' if the claim has as many void calls as a claim may have.
CREATE OR REPLACE FUNCTION {schema}.bank_refuse(
    p_bank bigint, p_claim text, p_call bigint, p_place tid, p_void bigint[], p_refusal text
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    IF pg_catalog.cardinality(p_void) >= 16 THEN
        RETURN 'open';
    ELSIF p_place IS NULL THEN
        INSERT INTO {schema}.claims (bank, claim, state, ended_at, void_calls)
        VALUES (p_bank, p_claim, 'void', asked, ARRAY[p_call]);
        IF {schema}.has_waited(asked) THEN
            UPDATE {schema}.claims c SET ended_at = {schema}.clock() WHERE c.bank = p_bank AND c.claim = p_claim;
        END IF;
    ELSE
        -- A claim that holds an item has no end yet.
        UPDATE {schema}.claims c
        SET void_calls = pg_catalog.array_append(p_void, p_call), ended_at = CASE WHEN c.ended_at IS NOT NULL THEN asked END
        WHERE c.ctid = p_place;
    END IF;
    RETURN p_refusal;
END $$;
