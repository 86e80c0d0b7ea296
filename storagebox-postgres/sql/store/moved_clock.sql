-- Moves the clock of tests {micros} microseconds ahead of the server's clock. Replaces the function once, by a function
-- that reads a sequence: a replacement makes every session look up all functions again. The value of a sequence is
-- visible to all transactions at once.
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
