//! `setup` and `ping`: what a person is told while a file is not what it should be.

use std::fs;
use std::process::Stdio;

use super::file::File;
use crate::quiet::Quiet;
use crate::support::{Ended, Place};

const COUNTS: [&str; 3] = ["bank", "counts", "b"];

/// A failure, with what happened and what to do.
#[track_caller]
fn fails(ended: Ended, because: &str, help: &str) {
    let ended = ended.exits(3);
    assert_eq!(ended.stdout, "");
    let (error, advice) = (ended.stderr.lines().next().unwrap(), ended.stderr.lines().last().unwrap());
    assert!(error.starts_with("error: cannot ") && error.contains(because), "{}", ended.stderr);
    assert!(advice.starts_with("help: ") && advice.contains(help), "{}", ended.stderr);
}

#[test]
fn a_store_is_made_once_and_then_ready() {
    let file = File::bare();
    let place = file.place();
    let bare = place.run(&["ping"]).exits(1);
    assert_eq!(bare.stdout, "backend sqlite\noutcome not set up\n");
    assert!(bare.stderr.starts_with("note: there is no file /"), "{}", bare.stderr);
    assert!(bare.stderr.contains("\nhelp: run `storagebox setup"), "{}", bare.stderr);
    assert!(!file.path().exists());
    assert_eq!(place.run(&["setup", "--json"]).exits(0).json()["outcome"], "set_up");
    assert_eq!(place.run(&["setup", "--json"]).exits(0).json()["outcome"], "was_set_up");
    assert_eq!(place.run(&["ping"]).exits(0).stdout, "backend sqlite\noutcome ready\n");
}

#[test]
fn a_path_is_of_the_folder_that_the_command_runs_in() {
    let place = Place::new().on("sqlite:namespace.db");
    place.run(&["setup"]).exits(0);
    assert_eq!(place.names(), ["namespace.db"]);
}

#[test]
fn eight_setups_at_once_are_one() {
    let file = File::bare();
    let place = file.place();
    let setups = [(); 8].map(|()| place.command(&["setup"]).stdout(Stdio::null()).spawn().unwrap());
    for mut setup in setups {
        assert_eq!(setup.wait().unwrap().code(), Some(0));
    }
    place.run(&["ping"]).exits(0);
}

#[test]
fn a_command_on_a_file_that_is_missing_says_how_to_make_it() {
    let file = File::bare();
    fails(file.place().run(&COUNTS), "there is no file", "run `storagebox setup");
    assert!(!file.path().exists());
}

#[test]
fn what_is_no_database_is_left_alone() {
    let file = File::bare();
    fs::write(file.path(), "a letter. ".repeat(100)).unwrap();
    fails(file.place().run(&COUNTS), "is not a SQLite database", "");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a letter. ".repeat(100));
}

#[test]
fn a_url_that_is_wrong_is_bad_usage() {
    for (url, because) in [
        ("sqlite:", "must not be empty"),
        ("sqlite:namespace.db/", "must name a file, not a folder"),
        ("sqlite::memory:", "use the backend `memory:`"),
        ("sqlite:namespace.db?synchronus=full", "has the query key `synchronus`, which is not known"),
        ("sqlite:namespace.db?mode=ro", "it may have `synchronous`, `combining`, `call_timeout`, `memory` and `wal_"),
        ("sqlite:namespace.db?synchronous=off", "must be `full`, `normal` or `extra`"),
    ] {
        let ended = Place::new().on(url).run(&["ping"]).exits(2);
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines[0].starts_with("error: cannot open the store on sqlite: "), "{}", ended.stderr);
        assert!(lines[0].contains(because) && lines[1].contains("STORAGEBOX_URL"), "{}", ended.stderr);
    }
}

/// SQLite takes `x/` for `x`, and an output replaced `x-wal`, the log of that: one code went to two people.
#[test]
fn no_output_takes_the_place_of_a_log_however_the_store_is_spelled() {
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

#[test]
fn a_filter_for_everything_tells_no_secret() {
    let file = File::bare();
    Quiet { place: file.place(), keys: &[], with_keys: |_| {} }.tells_no_secret();
}
