//! The errors of a database that is not as it should be. No error shows a password.

use super::Database;
use crate::ready::{COUNTS, SECRET, fails_by, is_ready, run};
use crate::stores::Store;

/// URLs that cannot be opened, each with a part of the error text.
pub(super) const WRONG_URLS: &[(&str, &str)] = &[
    ("postgres:hunter2", "must begin with postgres:// or postgresql://"),
    ("postgres://ada:hunter2@127.0.0.1/shop?hunter2=on", "has an unknown query key"),
    ("postgres://ada:hunter2@127.0.0.1/shop?statements=hunter2", "must be `prepared` or `simple`"),
    ("postgres://ada:hunter2@127.0.0.1:hunter2/shop", "cannot be read"),
];

#[test]
fn a_store_that_the_owner_has_set_up_is_ready_for_the_role() {
    let database = Database::ready();
    for place in [database.place_of_owner(), database.place()] {
        is_ready::<Database>(&place);
    }
}

#[test]
fn a_command_on_a_store_that_is_not_set_up_advises_setup() {
    let counts = Database::bare().place_of_owner().run(&COUNTS);
    fails_by(counts, "the schema does not exist", "\"storagebox", "run `storagebox setup");
}

#[test]
fn a_wrong_password_is_refused() {
    let database = Database::ready();
    let place = database.place_with("hunter2-wrong", "postgres");
    for args in [&["ping"][..], &["setup"], &COUNTS] {
        let refused = place.run(args);
        fails_by(refused, "refused the user or the password", "password", "check the user and the password");
    }
}

#[test]
fn the_log_of_calls_shows_no_password() {
    let database = Database::ready();
    let counts = [&["-vv"], &COUNTS[..]].concat();
    let said = run(&database.place(), &counts, 0).stderr;
    assert!(
        said.contains("part=bank operation=\"counts\" namespace=b}") && said.contains("storagebox_postgres"),
        "{said}"
    );
    let said = run(&database.place_with("hunter2-wrong", "postgres"), &counts, 3).stderr;
    assert!(said.contains("operation=\"counts\" namespace=b}: ") && said.contains("an attempt failed"), "{said}");
}

#[test]
fn a_command_on_a_missing_database_advises_to_create_it() {
    let database = Database::bare();
    let place = database.place_with(SECRET, "sbcli_missing");
    let missing = run(&place, &["ping"], 1);
    assert!(missing.stderr.starts_with("note: the database does not exist; create it first\n"));
    let cause = "database \"sbcli_missing\" does not exist";
    fails_by(place.run(&["setup"]), "create it first", cause, "setup makes what goes into a database");
    fails_by(place.run(&COUNTS), "create it first", cause, "run `storagebox setup");
}

#[test]
fn an_error_names_the_right_that_a_role_lacks() {
    let database = Database::bare();
    let place = database.place();
    fails_by(place.run(&["setup"]), "a right is missing", "permission denied for database", "may create things");
    run(&database.place_of_owner(), &["setup"], 0);
    for args in [&["ping"][..], &COUNTS] {
        fails_by(place.run(args), "a right is missing", "permission denied for schema storagebox", "may do what");
    }
}
