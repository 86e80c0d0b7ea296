//! `RUST_LOG=trace`: the log has no items, tokens, ids or keys that drivers log.

use std::process::Command;

use crate::support::{Ended, Place};

/// Texts in the store that the tests look for in the log.
const SECRETS: [&str; 4] = ["CODE-7f3a9", "ada-51c2e", "token-9b04d", "value-2e8f6"];

/// Runs commands with the most verbose log, and searches the log for the contents of the store.
pub(crate) struct Quiet<'a> {
    pub(crate) place: Place,
    /// The secrets of the connection, which no log may show.
    pub(crate) keys: &'a [&'a str],
    /// Sets the credentials of each command.
    pub(crate) with_keys: fn(&mut Command),
}

impl Quiet<'_> {
    fn run(&self, filter: &str, args: &[&str]) -> Ended {
        let mut command = self.place.command(args);
        (self.with_keys)(&mut command);
        command.env("RUST_LOG", filter).output().unwrap().into()
    }

    /// Returns commands that write and read the texts of `SECRETS`.
    fn commands() -> [Vec<&'static str>; 7] {
        let [_, id, token, value] = SECRETS;
        [
            vec!["setup"],
            vec!["bank", "load", "b", "items.csv"],
            vec!["bank", "take", "b", id],
            vec!["bank", "list", "b"],
            vec!["token", "create", "tokens", token],
            vec!["dedup", "record", "records", "r", value, "--op", "o"],
            vec!["dedup", "list", "records"],
        ]
    }

    /// Asserts that no log shows a secret if the filter has a level for all targets.
    pub(crate) fn tells_no_secret(&self) {
        self.place.write("items.csv", SECRETS[0]);
        for filter in ["trace", "debug,storagebox=trace"] {
            for args in Self::commands() {
                let said = self.run(filter, &args).exits(0).stderr;
                for secret in SECRETS.iter().chain(self.keys) {
                    assert!(!said.contains(secret), "{secret} by {args:?} with {filter}: {said}");
                }
                assert!(said.contains("storagebox"), "{args:?}: {said}");
            }
        }
    }

    /// Asserts that a driver is logged if the filter names the driver.
    #[cfg(feature = "dynamo")]
    pub(crate) fn hears_what_is_named(&self, target: &str) {
        let said = self.run(&format!("{target}=trace"), &["ping"]).exits(0).stderr;
        assert!(said.contains(target), "{said}");
    }
}
