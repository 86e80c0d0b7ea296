//! Names of operations for error messages, and the advice for errors of a store.

use std::borrow::Cow;

use storagebox::{Certainty, Error, ErrorKind};

use crate::doubt::Doubt;

// Steps that are no single call of the store. An error has them as its operation.
pub(crate) const OPEN: &str = "open the store";
pub(crate) const ASSIGN: &str = "assign an item";
pub(crate) const RECOVER: &str = "recover the incomplete assignments";
#[cfg(feature = "conform")]
pub(crate) const CERTIFY: &str = "certify the server to the end";
#[cfg(feature = "conform")]
pub(crate) const REMOVE: &str = "remove what the suite made";

/// Returns what failed, as a phrase that follows `cannot`.
pub(crate) fn phrase(error: &Error) -> &'static str {
    // An error without an operation comes from opening a namespace.
    match error.operation().unwrap_or("open the namespace") {
        "setup" => "set up the store",
        "ping" => "reach the store",
        "maintain" => "maintain the store",
        "close" => "close the store",
        "add" => "add the items",
        "take" => "take an item",
        "confirm" => "confirm the claim",
        "release" => "release the claim",
        "extend" => "extend the hold or the lease",
        "retire" => "retire the claim",
        "holder" => "look for the item",
        "withdraw" => "withdraw the items",
        "restore" => "restore the items",
        "counts" => "count the items",
        "list" | "log" => "list what is there",
        "get" => "read what is there",
        "record" => "record the value",
        "replace" => "replace the value",
        "forget" => "forget the record",
        "begin" => "begin the lease",
        "complete" => "record the result",
        "abort" => "give the lease back",
        "create_tokens" => "create the tokens",
        "exists" => "look for the token",
        "consume" => "consume the token",
        "discard" => "discard the tokens",
        "apply" => "change the counter",
        "cancel" => "cancel the operation",
        "value" => "read the counter",
        "compact" => "compact the counter",
        "put" => "put the value",
        "delete" => "delete the value",
        "purge" => "purge the deletes",
        "reset" => "reset the key",
        phrase => phrase,
    }
}

/// Returns the advice for an error: what the user does next.
pub(crate) fn help(error: &Error) -> Cow<'static, str> {
    match error.certainty() {
        Certainty::NotApplied => advice(error).into(),
        Certainty::Unknown => help_in_doubt(error, Doubt::of(error)),
    }
}

/// Returns the advice for an error of a command that may have taken effect.
pub(crate) fn help_in_doubt(error: &Error, doubt: Doubt) -> Cow<'static, str> {
    match error.kind() {
        ErrorKind::OutcomeUnknown => doubt.help(),
        _ => format!("{}; {}", advice(error), doubt.help()).into(),
    }
}

fn advice(error: &Error) -> &'static str {
    let operation = error.operation();
    match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::Misconfigured | ErrorKind::Unsupported if operation == Some(OPEN) => {
            "correct --url or STORAGEBOX_URL; the README of the backend shows how its URLs are written"
        }
        ErrorKind::Misconfigured if operation.is_none() => "open it as it was created, or use another namespace",
        ErrorKind::Unsupported => "use what the error names instead, or another backend",
        ErrorKind::NotSetUp if operation == Some("setup") => {
            "setup makes what goes into a database, and not the database itself: create that first"
        }
        ErrorKind::NotSetUp => "run `storagebox setup --url ...` once, with the same URL, then run this again",
        ErrorKind::Denied if error.backend() == Some("sqlite") => {
            "check who may read and write the file and its directory, and which user runs this"
        }
        ErrorKind::Denied if operation == Some("setup") => {
            "check the user and the password of the URL, or the credentials of the environment; setup needs a user \
             that may create things, the other commands do not"
        }
        ErrorKind::Denied => {
            "check the user and the password of the URL, or the credentials of the environment, and that this user \
             may do what the error names"
        }
        ErrorKind::Unavailable if error.backend() == Some("sqlite") => {
            "check the file, its directory, and the space left on the disk and in memory, then run this again"
        }
        ErrorKind::Unavailable => {
            "check that the server runs and that the URL's host and port reach it, then run this again"
        }
        ErrorKind::Contention | ErrorKind::Throttled => "nothing was lost: run the same command again later",
        ErrorKind::Corrupt => {
            "examine the store before anything else: something other than this version of storagebox changed it"
        }
        _ => "change what the error names",
    }
}
