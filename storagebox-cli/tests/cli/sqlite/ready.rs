//! The errors of a file that is not as it should be.

use std::fs;

use super::File;
use crate::ready::{COUNTS, fails, run};
use crate::stores::Store;
use crate::support::Place;

/// URLs that cannot be opened, each with a part of the error text.
pub(super) const WRONG_URLS: &[(&str, &str)] = &[
    ("sqlite:", "must not be empty"),
    ("sqlite:store.db/", "must name a file, not a folder"),
    ("sqlite::memory:", "use the backend `memory:`"),
    ("sqlite:store.db?synchronus=full", "has the unknown query key `synchronus`"),
    ("sqlite:store.db?mode=ro", "expected `synchronous`, `combining`, `call_timeout`, `remember` or `wal_"),
    ("sqlite:store.db?synchronous=off", "must be `full`, `normal` or `extra`"),
];

#[test]
fn a_relative_path_starts_in_the_current_folder() {
    let place = Place::new().on("sqlite:store.db");
    place.run(&["setup"]).exits(0);
    assert_eq!(place.names(), ["store.db"]);
}

#[test]
fn a_command_on_a_missing_file_advises_setup() {
    let file = File::bare();
    run(&file.place(), &["ping"], 1);
    fails(file.place().run(&COUNTS), "there is no file", "run `storagebox setup");
    assert!(!file.path().exists());
}

#[test]
fn a_file_that_is_no_database_is_unchanged() {
    let file = File::bare();
    fs::write(file.path(), "a letter. ".repeat(100)).unwrap();
    fails(file.place().run(&COUNTS), "is not a SQLite database", "");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a letter. ".repeat(100));
}

/// SQLite opens `x` for `x/`, so the log of this store is `x-wal`. An output that replaced the log would give one code
/// to two people.
#[test]
fn no_output_replaces_the_log_of_a_store_with_an_odd_path() {
    let mut place = Place::with("A\nB\n", "ada\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("x/", place.path("link")).unwrap();
    let before = place.names();
    let urls = ["sqlite:x/", "sqlite:x//", "sqlite:x/."].into_iter().chain(cfg!(unix).then_some("sqlite:link"));
    for url in urls {
        place = place.on(url);
        place.run(&["hand-out", "items", "--items", "items.csv", "--ids", "ids.csv", "--out", "x-wal"]).exits(2);
        assert_eq!(place.names(), before, "{url}");
    }
}
