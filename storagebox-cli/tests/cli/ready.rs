//! `setup` and `ping`: the errors of a store that is not as it should be. No error shows a key.

use std::process::Stdio;

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
use storagebox_testkit::port;

#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
use crate::quiet::Quiet;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
use crate::stores::Served;
use crate::stores::{Store, tests_on};
use crate::support::{Ended, Place};

tests_on! {
    [dynamo postgres redis sqlite]:
        a_store_is_set_up_once_and_then_ready,
        concurrent_setups_all_succeed,
        an_invalid_url_is_bad_usage;
    [dynamo postgres redis]:
        a_server_that_is_down_is_reported_unreachable;
    [postgres redis sqlite]:
        a_log_filter_for_all_targets_shows_no_secret;
}

pub(crate) const COUNTS: [&str; 3] = ["bank", "counts", "b"];

/// The password or the secret key of every store, which no output may show.
pub(crate) const SECRET: &str = "hunter2";

#[track_caller]
pub(crate) fn run(place: &Place, args: &[&str], code: i32) -> Ended {
    silent(place.run(args).exits(code))
}

/// Asserts that the output shows no secret and no URL.
#[track_caller]
fn silent(ended: Ended) -> Ended {
    let shown = [&ended.stdout[..], &ended.stderr].concat();
    assert!(!shown.contains(SECRET) && !shown.contains("://"), "{shown}");
    ended
}

/// Asserts a failure whose output shows what happened and what to do.
#[track_caller]
pub(crate) fn fails(ended: Ended, because: &str, help: &str) -> Ended {
    let ended = silent(ended.exits(3));
    assert_eq!(ended.stdout, "");
    let (error, advice) = (ended.stderr.lines().next().unwrap(), ended.stderr.lines().last().unwrap());
    assert!(error.starts_with("error: cannot ") && error.contains(because), "{}", ended.stderr);
    assert!(advice.starts_with("help: ") && advice.contains(help), "{}", ended.stderr);
    ended
}

/// Asserts a failure like [`fails`], with one more line: the message of the server or the system.
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
#[track_caller]
pub(crate) fn fails_by(ended: Ended, because: &str, cause: &str, help: &str) {
    let ended = fails(ended, because, help);
    let lines: Vec<_> = ended.stderr.lines().collect();
    let [_, root, _] = lines[..] else { panic!("{}", ended.stderr) };
    assert!(root.starts_with("cause: ") && root.contains(cause), "{root}");
}

fn a_store_is_set_up_once_and_then_ready<S: Store>() {
    let store = S::bare();
    let place = store.place_of_owner();
    let bare = run(&place, &["ping"], 1);
    assert_eq!(bare.stdout, format!("backend {}\noutcome not set up\n", S::BACKEND));
    let lines: Vec<_> = bare.stderr.lines().collect();
    let [note, help] = lines[..] else { panic!("{}", bare.stderr) };
    assert_eq!(note, format!("note: {}", store.note_of_bare()));
    assert!(help.starts_with("help: run `storagebox setup"), "{help}");
    assert_eq!(run(&place, &["setup", "--json"], 0).json()["outcome"], "set_up");
    is_ready::<S>(&place);
}

#[track_caller]
pub(crate) fn is_ready<S: Store>(place: &Place) {
    assert_eq!(run(place, &["setup", "--json"], 0).json()["outcome"], "was_set_up");
    assert_eq!(run(place, &["ping"], 0).stdout, format!("backend {}\noutcome ready\n", S::BACKEND));
    assert_eq!(run(place, &["ping", "--json"], 0).json()["outcome"], "ready");
}

fn concurrent_setups_all_succeed<S: Store>() {
    let store = S::bare();
    let place = store.place_of_owner();
    let spawn = |_| place.command(&["setup"]).stdout(Stdio::null()).spawn().unwrap();
    let setups: Vec<_> = (0..S::SETUPS).map(spawn).collect();
    for mut setup in setups {
        assert_eq!(setup.wait().unwrap().code(), Some(0));
    }
    run(&place, &["ping"], 0);
}

/// The error shows the reason and the variable with the URL, but no password.
fn an_invalid_url_is_bad_usage<S: Store>() {
    for (url, because) in S::WRONG_URLS {
        let ended = Place::new().on(url).run(&["ping"]).exits(2);
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
        let lines: Vec<_> = ended.stderr.lines().collect();
        let told = format!("error: cannot open the store on {}: ", S::BACKEND);
        assert!(lines[0].starts_with(&told) && lines[0].contains(because), "{}", ended.stderr);
        assert!(lines[1].contains("STORAGEBOX_URL"), "{}", ended.stderr);
    }
}

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
fn a_server_that_is_down_is_reported_unreachable<S: Served>() {
    let place = S::place_at(&format!("127.0.0.1:{}", port::free().unwrap()));
    for args in [&["ping"][..], &["setup"], &COUNTS] {
        fails_by(place.run(args), S::UNREACHED, "refused", "check that the server runs");
    }
}

#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
fn a_log_filter_for_all_targets_shows_no_secret<S: Store>() {
    let store = S::bare();
    Quiet { place: store.place_of_owner(), keys: &[SECRET], with_keys: |_| {} }.tells_no_secret();
}
