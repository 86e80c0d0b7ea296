-- Run this as the schema's owner after you restored a copy and before you start any process: it refuses every process that
-- still has the store open.
UPDATE {schema}.store SET epoch = hashtextextended(gen_random_uuid()::text, 0);
UPDATE {schema}.namespaces SET epoch = hashtextextended(gen_random_uuid()::text, 0);
