-- J-2 Takes within a transaction of the caller. A concurrent first take of the same claim fails on the unique index
-- (23505). This must not end the transaction of the caller, and no client repeats the take here. So this function
-- undoes the take and makes it again, and the take then sees what the other transaction has committed.
-- Returns what `bank_take` returns.
CREATE OR REPLACE FUNCTION {schema}.bank_take_within(
    p_bank bigint, p_epoch bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_hold bigint, p_memory bigint,
    p_start bigint, p_till bigint, p_since bigint
) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    FOR attempt IN 1 .. 8 LOOP
        BEGIN
            RETURN {schema}.bank_take(
                p_bank, p_epoch, p_claim, p_call, p_is_repeated, p_hold, p_memory, p_start, p_till, p_since
            );
        EXCEPTION WHEN unique_violation THEN
            CONTINUE;
        END;
    END LOOP;
    RETURN ARRAY['busy'];
END $$;
