-- J-2 Ends a call that `begin.sql` began.
RELEASE storagebox;
DELETE FROM main.storagebox_unfinished_calls
