-- IB-1, IB-3 Gives a claim an item of a bank, or the item that it has. A concurrent first call for the same claim waits
-- for the end of the other transaction.
-- Returns one row: new item remaining | again item remaining | empty | ended | busy: others have locked the last items.
-- `remaining` is null for a hold without an end and for a confirmed claim.
CREATE OR REPLACE FUNCTION {schema}.assign(bank text, claim text, hold interval DEFAULT NULL)
RETURNS TABLE (outcome text, item text, remaining interval)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    micros CONSTANT bigint := {schema}.checked_micros('hold', hold);
    known record;
    taken text[];
BEGIN
    PERFORM {schema}.check_text('claim', claim);
    SELECT * INTO known FROM {schema}.namespace_named('bank', bank, '', NULL);
    taken := {schema}.bank_take_within(
        known.number, known.epoch, claim, {schema}.random_number(), false, micros, known.memory,
        {schema}.random_number(), NULL, NULL
    );
    outcome := taken[1];
    IF outcome = 'new' THEN
        item := taken[2];
        remaining := {schema}.interval_of(micros);
    ELSIF outcome = 'again' THEN
        item := taken[2];
        remaining := {schema}.remaining_of(taken[3]);
    END IF;
    RETURN NEXT;
END $$;
