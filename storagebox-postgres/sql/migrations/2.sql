-- Version 2: a publication of all tables (logical replication, change capture) refuses updates and deletions in a table
-- without a replica identity. `claims` has no primary key, because a retired claim has no name. FULL identifies a row
-- by all its columns: it needs no index, and costs nothing where no change is decoded.
ALTER TABLE {schema}.claims REPLICA IDENTITY FULL;
