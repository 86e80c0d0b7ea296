//! The errors of a server that is not as it should be. No error shows a password.

use storagebox_testkit::redis::{Redis, Settings};

use super::Keys;
use crate::ready::{COUNTS, fails, run};
use crate::stores::Store;
use crate::support::Place;

/// URLs that cannot be opened, each with a part of the error text.
pub(super) const WRONG_URLS: &[(&str, &str)] = &[
    ("redis:hunter2", "must begin with redis://"),
    ("redis://ada:hunter2@host?hunter2=on", "has an unknown query key"),
    ("redis://ada:hunter2@host?remember=hunter2", "must be a duration with its unit"),
    ("rediss://ada:hunter2@host/vouchers", "url cannot be read"),
];

#[test]
fn a_command_on_a_missing_store_advises_setup() {
    fails(Keys::bare().place().run(&COUNTS), "there is no store with this prefix", "run `storagebox setup");
}

#[test]
fn a_wrong_password_is_refused() {
    let settings = Settings::quick().with("requirepass", "right");
    let server = Redis::start(&settings).unwrap();
    let place = Place::new().on(&server.url().replace("://", "://default:hunter2@"));
    fails(place.run(&["ping"]), "refused the user or the password", "");
}

#[test]
fn a_server_that_evicts_keys_is_refused() {
    let server = Redis::start(&Settings::quick().with("maxmemory-policy", "allkeys-lru")).unwrap();
    let refused = run(&Place::new().on(&server.url()), &["setup"], 2);
    assert!(refused.stderr.contains("`maxmemory-policy` is allkeys-lru"), "{}", refused.stderr);
}
