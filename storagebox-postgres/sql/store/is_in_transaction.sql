-- J-3 Returns whether the statement is inside a transaction block. A statement that is its own transaction has no
-- transaction id before its first write, and does not see a transaction-local setting of an earlier statement.
-- `p_word` is the value of that setting, or null if it was not set yet. If the setting was set, fails instead of
-- returning false.
CREATE OR REPLACE FUNCTION {schema}.is_in_transaction(p_word text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF txid_current_if_assigned() IS NOT NULL OR current_setting('storagebox.within', true) = p_word THEN
        RETURN true;
    ELSIF p_word IS NOT NULL THEN
        RAISE EXCEPTION 'storagebox is to join a transaction, and there is none' USING ERRCODE = 'SB003';
    END IF;
    RETURN false;
END $$;
