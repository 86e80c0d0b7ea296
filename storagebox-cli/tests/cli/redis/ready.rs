//! `setup` and `ping`: what a person is told while a server is not what it should be, and that passwords are never shown.

use std::process::Stdio;

use storagebox_testkit::port;
use storagebox_testkit::redis::{Redis, Settings};

use super::keys::Keys;
use crate::quiet::Quiet;
use crate::support::{Ended, Place};

const COUNTS: [&str; 3] = ["bank", "counts", "b"];

#[track_caller]
fn run(place: &Place, args: &[&str], code: i32) -> Ended {
    silent(place.run(args).exits(code))
}

#[track_caller]
fn silent(ended: Ended) -> Ended {
    let shown = [&ended.stdout[..], &ended.stderr].concat();
    assert!(!shown.contains("hunter2") && !shown.contains("://"), "{shown}");
    ended
}

/// A failure, with what happened and what to do.
#[track_caller]
fn fails(ended: Ended, because: &str, help: &str) {
    let ended = silent(ended.exits(3));
    assert_eq!(ended.stdout, "");
    let (error, advice) = (ended.stderr.lines().next().unwrap(), ended.stderr.lines().last().unwrap());
    assert!(error.starts_with("error: cannot ") && error.contains(because), "{}", ended.stderr);
    assert!(advice.starts_with("help: ") && advice.contains(help), "{}", ended.stderr);
}

#[test]
fn a_store_is_made_once_and_then_ready() {
    let keys = Keys::bare();
    let place = keys.place();
    let bare = run(&place, &["ping"], 1);
    assert_eq!(bare.stdout, "backend redis\noutcome not set up\n");
    assert!(bare.stderr.starts_with("note: there is no store with this prefix\nhelp: run `storagebox setup"));
    assert_eq!(run(&place, &["setup", "--json"], 0).json()["outcome"], "set_up");
    assert_eq!(run(&place, &["setup", "--json"], 0).json()["outcome"], "was_set_up");
    assert_eq!(run(&place, &["ping"], 0).stdout, "backend redis\noutcome ready\n");
    assert_eq!(run(&place, &["ping", "--json"], 0).json()["outcome"], "ready");
}

#[test]
fn four_setups_at_once_are_one() {
    let keys = Keys::bare();
    let place = keys.place();
    let spawn = || place.command(&["setup"]).stdout(Stdio::null()).spawn().unwrap();
    for mut setup in [spawn(), spawn(), spawn(), spawn()] {
        assert_eq!(setup.wait().unwrap().code(), Some(0));
    }
    run(&place, &["ping"], 0);
}

#[test]
fn a_command_on_a_store_that_is_missing_says_how_to_make_it() {
    fails(Keys::bare().place().run(&COUNTS), "there is no store with this prefix", "run `storagebox setup");
}

#[test]
fn a_server_that_is_down_is_not_reached() {
    let down = format!("redis://ada:hunter2@127.0.0.1:{}", port::free().unwrap());
    let place = Place::new().on(&down);
    for args in [&["ping"][..], &COUNTS] {
        fails(place.run(args), "the server could not be reached", "check that the server runs");
    }
}

#[test]
fn a_wrong_password_is_refused() {
    let settings = Settings::quick().with("requirepass", "right");
    let server = Redis::start(&settings).unwrap();
    let place = Place::new().on(&server.url().replace("://", "://default:hunter2@"));
    fails(place.run(&["ping"]), "refused the user or the password", "");
}

#[test]
fn a_server_that_evicts_is_refused() {
    let server = Redis::start(&Settings::quick().with("maxmemory-policy", "allkeys-lru")).unwrap();
    let refused = silent(Place::new().on(&server.url()).run(&["setup"]).exits(2));
    assert!(refused.stderr.contains("`maxmemory-policy` is allkeys-lru"), "{}", refused.stderr);
}

#[test]
fn a_url_that_is_wrong_is_bad_usage() {
    for (url, because) in [
        ("redis:hunter2", "must begin with redis://"),
        ("redis://ada:hunter2@host?hunter2=on", "has a query key that is not known"),
        ("redis://ada:hunter2@host?memory=hunter2", "must be a duration with its unit"),
        ("rediss://ada:hunter2@host#insecure", "must not hold a #"),
    ] {
        let ended = Place::new().on(url).run(&["ping"]).exits(2);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines[0].starts_with("error: cannot open the store on redis: "), "{}", ended.stderr);
        assert!(lines[0].contains(because) && lines[1].contains("STORAGEBOX_URL"), "{}", ended.stderr);
    }
}

#[test]
fn a_filter_for_everything_tells_no_secret() {
    let keys = Keys::bare();
    Quiet { place: keys.place(), keys: &[], with_keys: |_| {} }.tells_no_secret();
}
