-- Moves the clock of tests {micros} microseconds ahead of the server's clock. Replaces the function once, by a function
-- that reads a sequence, whose value is visible to all transactions at once: after each replacement of a function,
-- every session looks up all functions again.
DO $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = '{schema}.clock()'::regprocedure
      AND d.refobjid = to_regclass('{schema}.clock_offset')
  ) THEN
    CREATE SEQUENCE IF NOT EXISTS {schema}.clock_offset MINVALUE 0;
    CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz LANGUAGE sql
      RETURN clock_timestamp() + {schema}.interval_of(coalesce(pg_sequence_last_value('{schema}.clock_offset'), 0));
  END IF;
END $$;
SELECT setval('{schema}.clock_offset', {micros})
