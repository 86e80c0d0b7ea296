//! `setup` and `ping`: what a person is told while a store is not what it should be.

use storagebox_testkit::port;

use super::database::{Database, PASSWORD};
use crate::quiet::Quiet;
use crate::support::{Ended, Place};

#[track_caller]
fn run(url: &str, args: &[&str], code: i32) -> Ended {
    let ended = Place::new().on(url).run(args).exits(code);
    let shown = [&ended.stdout[..], &ended.stderr].concat();
    assert!(!shown.contains(PASSWORD) && !shown.contains("://"), "{shown}");
    ended
}

/// A failure, with what happened, the server's own words for it, and what to do.
#[track_caller]
fn fails(url: &str, args: &[&str], because: &str, cause: &str, help: &str) {
    let ended = run(url, args, 3);
    assert_eq!(ended.stdout, "");
    let lines: Vec<_> = ended.stderr.lines().collect();
    let [error, root, advice] = lines[..] else { panic!("{}", ended.stderr) };
    assert!(error.starts_with("error: cannot ") && error.contains(because), "{error}");
    assert!(root.starts_with("cause: ") && root.contains(cause), "{root}");
    assert!(advice.starts_with("help: ") && advice.contains(help), "{advice}");
}

const COUNTS: [&str; 3] = ["bank", "counts", "b"];

#[test]
fn a_store_is_set_up_once_and_then_ready_for_everybody() {
    let database = Database::bare();
    let owner = database.owner();
    let bare = run(&owner, &["ping"], 1);
    assert_eq!(bare.stdout, "backend postgres\noutcome not set up\n");
    let told = "note: the schema or a table of it does not exist\nhelp: run `storagebox setup";
    assert!(bare.stderr.starts_with(told), "{}", bare.stderr);
    assert_eq!(run(&owner, &["setup", "--json"], 0).json()["outcome"], "set_up");
    assert_eq!(run(&owner, &["setup", "--json"], 0).json()["outcome"], "was_set_up");
    database.grant();
    for url in [owner, database.url()] {
        assert_eq!(run(&url, &["ping"], 0).stdout, "backend postgres\noutcome ready\n");
        assert_eq!(run(&url, &["ping", "--json"], 0).json()["outcome"], "ready");
        assert_eq!(run(&url, &["setup", "--json"], 0).json()["outcome"], "was_set_up");
    }
}

#[test]
fn four_setups_at_once_are_one() {
    let database = Database::bare();
    let place = Place::new().on(&database.owner());
    let spawn = || place.command(&["setup"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    for mut setup in [spawn(), spawn(), spawn(), spawn()] {
        assert_eq!(setup.wait().unwrap().code(), Some(0));
    }
    run(&database.owner(), &["ping"], 0);
}

#[test]
fn a_command_on_a_store_that_is_not_set_up_says_how() {
    let owner = Database::bare();
    fails(&owner.owner(), &COUNTS, "the schema does not exist", "\"storagebox", "run `storagebox setup");
}

#[test]
fn a_wrong_password_is_refused() {
    let database = Database::ready();
    let url = database.url_with("hunter2-wrong", "postgres");
    for args in [&["ping"][..], &["setup"], &COUNTS] {
        fails(&url, args, "refused the user or the password", "password", "check the user and the password");
    }
}

#[test]
fn a_server_that_is_down_is_not_reached() {
    let url = format!("postgres://ada:{PASSWORD}@127.0.0.1:{}/shop", port::free().unwrap());
    for args in [&["ping"][..], &["setup"], &COUNTS] {
        fails(&url, args, "the server could not be reached", "refused", "check that the server runs");
    }
}

/// However much is said of the calls.
#[test]
fn the_password_is_not_among_what_is_said_of_calls() {
    let database = Database::ready();
    let counts = [&["-vv"], &COUNTS[..]].concat();
    let said = run(&database.url(), &counts, 0).stderr;
    assert!(said.contains("call{to=count the items}") && said.contains("storagebox_postgres"), "{said}");
    let refused = database.url_with("hunter2-wrong", "postgres");
    let said = run(&refused, &counts, 3).stderr;
    assert!(said.contains("failed attempt=1"), "{said}");
}

#[test]
fn a_database_that_is_missing_is_to_be_created_first() {
    let database = Database::bare();
    let url = database.url_with(PASSWORD, "sbcli_missing");
    let missing = run(&url, &["ping"], 1);
    assert!(missing.stderr.starts_with("note: the database does not exist; create it first\n"));
    let cause = "database \"sbcli_missing\" does not exist";
    fails(&url, &["setup"], "create it first", cause, "setup makes what goes into a database");
    fails(&url, &COUNTS, "create it first", cause, "run `storagebox setup");
}

#[test]
fn a_role_without_rights_is_told_which_it_lacks() {
    let database = Database::bare();
    let url = database.url();
    fails(&url, &["setup"], "lacks a right", "permission denied for database", "may create things");
    run(&database.owner(), &["setup"], 0);
    for args in [&["ping"][..], &COUNTS] {
        fails(&url, args, "lacks a right", "permission denied for schema storagebox", "may do what");
    }
}

#[test]
fn a_url_that_is_wrong_is_bad_usage() {
    let beside = "postgres://ada:hunter2@127.0.0.1/shop";
    for (url, because) in [
        ("postgres:hunter2".to_owned(), "must begin with postgres:// or postgresql://"),
        (format!("{beside}?hunter2=on"), "has a query key that is not known"),
        (format!("{beside}?statements=hunter2"), "must be `prepared` or `simple`"),
        (beside.replace("/shop", ":hunter2/shop"), "cannot be read"),
    ] {
        let ended = run_bad(&url);
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines[0].starts_with("error: cannot open the store on postgres: "), "{}", ended.stderr);
        assert!(lines[0].contains(because) && lines[1].contains("STORAGEBOX_URL"), "{}", ended.stderr);
    }
}

/// The message may show how a URL is written.
#[track_caller]
fn run_bad(url: &str) -> Ended {
    let ended = Place::new().on(url).run(&["ping"]).exits(2);
    assert!(!ended.stderr.contains(PASSWORD), "{}", ended.stderr);
    ended
}

#[test]
fn a_filter_for_everything_tells_no_secret() {
    let database = Database::bare();
    let place = Place::new().on(&database.owner());
    let quiet = Quiet { place, keys: &[PASSWORD], with_keys: |_| {} };
    quiet.tells_no_secret();
}
