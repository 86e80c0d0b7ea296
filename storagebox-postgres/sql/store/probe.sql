-- Tests the behaviours that the functions rely on and that not every server with PostgreSQL's protocol has. Runs in the
-- transaction of every setup that creates something, and leaves no object behind.
CREATE TABLE {schema}.probe (id integer PRIMARY KEY);
INSERT INTO {schema}.probe VALUES (1), (2);
CREATE FUNCTION {schema}.probe_setting() RETURNS text
LANGUAGE sql SET lock_timeout = '3s' AS $$ SELECT pg_catalog.current_setting('lock_timeout') $$;
CREATE FUNCTION {schema}.probe_address() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place tid;
    moved bigint;
BEGIN
    SELECT p.ctid INTO place FROM {schema}.probe p WHERE p.id = 1 FOR UPDATE SKIP LOCKED;
    UPDATE {schema}.probe p SET id = 3 WHERE p.ctid = place;
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN moved;
END $$;
-- There is only one session, so this cannot test whether the locks of another session are skipped.
CREATE FUNCTION {schema}.probe_lock() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM {schema}.probe p WHERE p.id = 2 FOR UPDATE SKIP LOCKED;
    PERFORM FROM {schema}.probe p WHERE p.id = 2 FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;
CREATE FUNCTION {schema}.probe_block() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        INSERT INTO {schema}.probe VALUES (4);
        INSERT INTO {schema}.probe VALUES (2);
    EXCEPTION WHEN unique_violation THEN
        NULL;
    END;
    RETURN (SELECT count(*) FROM {schema}.probe p WHERE p.id = 4);
END $$;
SELECT {schema}.probe_address() = 1 AS finds_by_address, {schema}.probe_lock() AS skips_no_own_locks,
    {schema}.probe_setting() = '3s' AS keeps_settings, {schema}.probe_block() = 0 AS undoes_blocks,
    pg_catalog.txid_current_if_assigned() IS NOT NULL AS has_ids,
    pg_catalog.set_config('storagebox.within', 'probe', true) = 'probe' AS has_local_settings;
DROP FUNCTION {schema}.probe_setting(), {schema}.probe_address(), {schema}.probe_lock(),
    {schema}.probe_block();
DROP TABLE {schema}.probe;
