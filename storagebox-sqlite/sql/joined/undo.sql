-- J-2 Undoes a call that `begin.sql` began. The transaction cannot be committed any more.
ROLLBACK TO storagebox;
RELEASE storagebox
