-- J-3 Returns whether foreign keys are checked, and the file of the connection.
SELECT f.foreign_keys AS checks, d.file AS file FROM pragma_foreign_keys f, pragma_database_list d WHERE d.name = 'main'
