-- Finds damage to the schema that no other statement reports: a missing index, a table that was rebuilt without its
-- primary key, and a trigger, which can discard a write without an error.
-- ?1 the names of our tables and indexes, as JSON
-- Returns the name of the first missing table or index and of the first trigger, or nulls.
SELECT (
    SELECT min(w.value) FROM json_each(?1) w WHERE NOT EXISTS (
        SELECT 1 FROM sqlite_schema s WHERE s.name = w.value AND (s.type = 'index' OR EXISTS (
            SELECT 1 FROM pragma_table_info(s.name) c WHERE c.pk > 0))
    )
) AS missing, (
    SELECT min(s.name) FROM sqlite_schema s
    WHERE s.type = 'trigger' AND s.tbl_name IN (SELECT w.value FROM json_each(?1) w)
) AS trigger_name
