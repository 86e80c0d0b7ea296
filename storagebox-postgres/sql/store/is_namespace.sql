-- S-4 Checks that the namespace is still the one that was opened, and the session (`check_session`). Every statement
-- about a namespace calls this first. A schema that was emptied, created again or restored lacks this epoch.
-- The read also locks out a TRUNCATE or DROP of `namespaces` until the statement ends. A row that is deleted just now
-- is noticed by the next statement.
-- The names of the unique indexes are looked up when the plan is made, and again after an index is dropped: without the
-- index, two callers could both be the first (IB-3, D-1, C-1). The lookup costs no round trip.
-- Returns true, or fails.
CREATE OR REPLACE FUNCTION {schema}.is_namespace(p_namespace bigint, p_epoch bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'off' AND current_setting('transaction_isolation') = 'read committed'
        AND EXISTS (SELECT FROM {schema}.namespaces b WHERE b.namespace = p_namespace AND b.epoch = p_epoch)
        AND '{schema}.free_items_pkey'::regclass IS NOT NULL AND '{schema}.bank_sections_pkey'::regclass IS NOT NULL
        AND '{schema}.bank_cells_pkey'::regclass IS NOT NULL AND '{schema}.claims_by_claim'::regclass IS NOT NULL
        AND '{schema}.bank_lapses_pkey'::regclass IS NOT NULL AND '{schema}.withdrawn_items_pkey'::regclass IS NOT NULL
        AND '{schema}.records_pkey'::regclass IS NOT NULL AND '{schema}.ended_ops_pkey'::regclass IS NOT NULL
        AND '{schema}.tokens_pkey'::regclass IS NOT NULL AND '{schema}.entities_pkey'::regclass IS NOT NULL
        AND '{schema}.outbox_entries_pkey'::regclass IS NOT NULL AND '{schema}.counters_pkey'::regclass IS NOT NULL
        AND '{schema}.counter_ops_pkey'::regclass IS NOT NULL AND '{schema}.ordered_values_pkey'::regclass IS NOT NULL THEN
        RETURN true;
    END IF;
    PERFORM {schema}.check_session();
    RAISE EXCEPTION 'the namespace is not the one that was opened' USING ERRCODE = 'SB001';
END $$;
