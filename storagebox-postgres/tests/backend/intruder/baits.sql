-- Schemas that another role creates before the first setup. Reading their `versions`, or planning the read, runs that
-- role's code with the reader's rights.
CREATE SCHEMA viewed;
CREATE FUNCTION viewed.spring() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.rob();
    RETURN 1;
END $$;
CREATE VIEW viewed.versions AS SELECT viewed.spring() AS version;

CREATE SCHEMA planned;
CREATE FUNCTION planned.spring() RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM public.rob();
    RETURN 1;
END $$;
CREATE VIEW planned.versions AS SELECT planned.spring() AS version;

-- Plain tables run such code too: with a policy, with a function in an index, statistics or a check, or with a cast
-- column.
CREATE SCHEMA guarded;
CREATE TABLE guarded.versions AS SELECT 1 AS version;
CREATE POLICY sprung ON guarded.versions USING (viewed.spring() = 1);
ALTER TABLE guarded.versions ENABLE ROW LEVEL SECURITY;

CREATE SCHEMA indexed;
CREATE TABLE indexed.versions AS SELECT 1 AS version;
CREATE INDEX ON indexed.versions ((version + planned.spring()));

CREATE SCHEMA halved;
CREATE TABLE halved.versions AS SELECT 1 AS version;
CREATE INDEX ON halved.versions (version) WHERE version > planned.spring();

CREATE SCHEMA checked;
CREATE TABLE checked.versions (version integer CHECK (version >= planned.spring()));
INSERT INTO checked.versions VALUES (1);

CREATE SCHEMA counted;
CREATE TABLE counted.versions AS SELECT 1 AS version;
CREATE STATISTICS counted.sprung ON (version + planned.spring()) FROM counted.versions;

CREATE SCHEMA disguised;
CREATE TYPE disguised.number AS (number integer);
CREATE FUNCTION disguised.spring(disguised.number) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    RETURN viewed.spring();
END $$;
CREATE CAST (disguised.number AS integer) WITH FUNCTION disguised.spring(disguised.number) AS IMPLICIT;
CREATE TABLE disguised.versions AS SELECT row(1)::disguised.number AS version;

CREATE SCHEMA stored;
CREATE TABLE stored.versions AS SELECT 1 AS version;
CREATE VIEW stored.store AS SELECT viewed.spring()::bigint AS epoch, 1::bigint AS memory;

-- In a schema whose owner lets other roles create objects.
CREATE TABLE lent.versions AS SELECT 1 AS version;

GRANT USAGE ON SCHEMA viewed, planned, guarded, indexed, halved, checked, counted, disguised, stored TO PUBLIC;
GRANT SELECT ON viewed.versions, planned.versions, guarded.versions, indexed.versions, halved.versions, checked.versions,
    counted.versions, disguised.versions, stored.versions, stored.store, lent.versions TO PUBLIC;
-- Removes the rows of code that ran while these objects were created.
DELETE FROM public.loot;
