-- After a copy was put back, and before any process is started: whoever is still open is refused. Its owner says it.
UPDATE {schema}.store SET epoch = hashtextextended(gen_random_uuid()::text, 0);
UPDATE {schema}.namespaces SET epoch = hashtextextended(gen_random_uuid()::text, 0);
