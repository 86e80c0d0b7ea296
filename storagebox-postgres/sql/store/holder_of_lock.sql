-- Returns the session that holds the lock of all setups, for the error of a setup whose wait for the lock timed out.
SELECT pg_catalog.format('session %s of the role %I (%s)', a.pid, a.usename, a.application_name)
FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) l.pid
WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory'::pg_catalog.text AND l.granted
  AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
  AND ((l.classid::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32) OPERATOR(pg_catalog.|) l.objid::pg_catalog.int8)
    OPERATOR(pg_catalog.=) {lock}
