-- Version 2: a publication of all tables, as logical replication and change capture make it, refuses each update and deletion in
-- a table whose old rows it cannot name. This table has no primary key: a claim that was retired has no name. The whole old row
-- names it, which costs nothing where nothing is decoded, and no index.
ALTER TABLE {schema}.claims REPLICA IDENTITY FULL;
