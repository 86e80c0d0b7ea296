-- J-3 Refuses a call of the store inside a transaction of other code, whose rollback would undo the call after its
-- answer. A statement that is its own transaction has no transaction id before its first write, and its transaction is
-- as old as the statement. The second that is added allows for a slow network between the messages of one call.
CREATE OR REPLACE FUNCTION {schema}.is_in_company() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the connection is inside a transaction of other code' USING ERRCODE = 'SB007';
END $$;
-- Returns true, or fails. The server puts the body in place of the call, because no function in it is VOLATILE. Without
-- that the call would cost about a seventh of a take.
CREATE OR REPLACE FUNCTION {schema}.is_alone() RETURNS boolean
LANGUAGE sql STABLE RETURN CASE
    WHEN txid_current_if_assigned() IS NULL AND statement_timestamp() < transaction_timestamp() + interval '1 second' THEN true
    ELSE {schema}.is_in_company()
END;
