//! `RUST_LOG=trace`: what a driver tells of items, tokens, ids and keys is not heard.

use std::process::Command;

use crate::support::{Ended, Place};

/// What is put into the store, so that it may be looked for.
const SECRETS: [&str; 4] = ["CODE-7f3a9", "ada-51c2e", "token-9b04d", "value-2e8f6"];

/// Whether nothing of a store's content is said by commands that say all they can.
pub(crate) struct Quiet<'a> {
    pub(crate) place: Place,
    /// What is secret about the way there.
    pub(crate) keys: &'a [&'a str],
    /// Gives each command its keys.
    pub(crate) with_keys: fn(&mut Command),
}

impl Quiet<'_> {
    fn run(&self, filter: &str, args: &[&str]) -> Ended {
        let mut command = self.place.command(args);
        (self.with_keys)(&mut command);
        command.env("RUST_LOG", filter).output().unwrap().into()
    }

    /// The commands that put secrets into the store and get them out again.
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

    /// To whoever asks for everything; our own libraries are heard.
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

    /// To whoever names the driver, at his own risk.
    #[cfg(feature = "dynamo")]
    pub(crate) fn hears_what_is_named(&self, target: &str) {
        let said = self.run(&format!("{target}=trace"), &["ping"]).exits(0).stderr;
        assert!(said.contains(target), "{said}");
    }
}
