-- Run this as the schema's owner after you restored a copy and before you start any process: it makes the store refuse
-- every process that still has it open.
UPDATE {schema}.store SET epoch = hashtextextended(gen_random_uuid()::text, 0);
UPDATE {schema}.namespaces SET epoch = hashtextextended(gen_random_uuid()::text, 0);
