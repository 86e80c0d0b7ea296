-- Objects in the temporary schema of a caller, in which tables and types are looked up before all other schemas.
CREATE TEMPORARY TABLE claims (loot text);
CREATE TEMPORARY TABLE free_items (loot text);
CREATE TEMPORARY TABLE pg_namespace (loot text);
CREATE DOMAIN pg_temp.text AS pg_catalog.int4;
CREATE DOMAIN pg_temp.numeric AS pg_catalog.int4;
CREATE DOMAIN pg_temp.timestamptz AS pg_catalog.int4;
CREATE DOMAIN pg_temp.bytea AS pg_catalog.int4;
CREATE DOMAIN pg_temp.tid AS pg_catalog.int4;
CREATE DOMAIN pg_temp.regclass AS pg_catalog.int4;
