//! The driver's errors, by code. What is not in the table may have been applied (ER-1).

use redis::RedisError;
use storagebox_core::{Certainty, Error, ErrorKind};

const FOREIGN: &str = "it is not what this version of the library writes; the cause says what was met";
const MOVING: &str = "the slot is on its way to another node";

/// What the first word of the server's error means for a script, which the server refuses before it runs.
const CODES: &[(&str, ErrorKind, &str)] = &[
    ("NOAUTH", ErrorKind::Denied, "the server wants a user and a password"),
    ("WRONGPASS", ErrorKind::Denied, "the server refused the user or the password"),
    ("OOM", ErrorKind::Unavailable, "the server is at its maxmemory"),
    ("LOADING", ErrorKind::Unavailable, "the server is still loading its data"),
    ("READONLY", ErrorKind::Unavailable, "the server is a replica, which only reads"),
    ("MASTERDOWN", ErrorKind::Unavailable, "the server is a replica that has lost its master"),
    ("MISCONF", ErrorKind::Unavailable, "the server cannot write to its disk"),
    ("NOREPLICAS", ErrorKind::Unavailable, "the server has fewer replicas than min-replicas-to-write"),
    ("CLUSTERDOWN", ErrorKind::Unavailable, "the cluster does not serve the slot"),
    ("BUSY", ErrorKind::Contention, "another script has been running for long"),
    ("MOVED", ErrorKind::Contention, "the slot is another node's by now"),
    ("ASK", ErrorKind::Contention, MOVING),
    ("TRYAGAIN", ErrorKind::Contention, MOVING),
];

/// Of a script that looked at its slot first (`lua/lib/slot.lua`), so that it has written nothing.
const NOT_HERE: &str = "attempted to access a non local key";

/// Of a call as a whole, or of a command in its script, after others that were carried out.
const NO_RIGHT: &str = "NOPERM";

/// Of a script that met what none of ours writes, before and after it wrote something (`lua/lib/answer.lua`), and of a
/// command alone.
const CORRUPT: [(&str, Certainty); 3] =
    [("CORRUPT", Certainty::NotApplied), ("HALFWAY", Certainty::Unknown), ("WRONGTYPE", Certainty::NotApplied)];

/// Of a script that found its namespace gone or another one (`lua/lib/epoch.lua`), before it wrote anything.
const EPOCH: &str = "EPOCH";

/// An error of a call that was sent, about the keys that begin so.
pub(crate) fn of(error: RedisError, keys: &str) -> Error {
    let code = error.code().unwrap_or_default();
    if let Some((_, certainty)) = CORRUPT.iter().find(|(known, _)| *known == code) {
        let record = format_args!("a key of {keys}");
        let corrupt = Error::corrupt(record, FOREIGN).caused_by(error).on("redis");
        return if *certainty == Certainty::Unknown { corrupt.after_unresolved() } else { corrupt };
    }
    if code == EPOCH {
        return of_another_epoch(keys).caused_by(error);
    }
    if code == NO_RIGHT {
        return denied("the server says which").caused_by(error).after_unresolved();
    }
    if error.kind() == redis::ErrorKind::ClusterConnectionNotFound {
        // The driver looks for it meanwhile, so that another attempt may find it.
        let why = "there is no connection to the slot's node";
        return Error::new(ErrorKind::Contention, why).caused_by(error).on("redis");
    }
    if error.detail().is_some_and(|detail| detail.contains(NOT_HERE)) {
        return Error::new(ErrorKind::Contention, MOVING).caused_by(error).on("redis");
    }
    let (kind, message) = known(code).unwrap_or((ErrorKind::OutcomeUnknown, "the connection or the answer was lost"));
    Error::new(kind, message).caused_by(error).on("redis")
}

fn known(code: &str) -> Option<(ErrorKind, &'static str)> {
    CODES.iter().find(|(known, ..)| *known == code).map(|(_, kind, message)| (*kind, *message))
}

/// Whether a connection is of no use after this error: it broke, or it leads to the wrong server.
pub(crate) fn ends_connection(error: &RedisError) -> bool {
    match error.code() {
        Some(code) => ["READONLY", "MASTERDOWN", "MOVED", "ASK", "CLUSTERDOWN"].contains(&code),
        None => true,
    }
}

/// Whether there may be another master by now: one that is cut off from its replicas and from those that watch it hears
/// nothing of its successor.
pub(crate) fn may_want_another_master(error: &RedisError) -> bool {
    error.code() == Some("NOREPLICAS")
}

/// Whether another login may help: the one that there was is refused, or a connection broke and was not made again.
pub(crate) fn may_want_another_login(error: &RedisError) -> bool {
    error.code().is_none_or(|code| ["NOAUTH", "WRONGPASS"].contains(&code))
}

/// An error of a connection that could not be had: nothing was sent.
pub(crate) fn connecting(error: RedisError) -> Error {
    let refused = error.kind() == redis::ErrorKind::AuthenticationFailed;
    let found = known(error.code().unwrap_or_default());
    let (kind, message) = match found {
        _ if refused => (ErrorKind::Denied, "the server refused the user or the password"),
        Some(found) => found,
        None => (ErrorKind::Unavailable, "the server could not be reached"),
    };
    Error::new(kind, message).caused_by(error).on("redis")
}

/// What was opened is not there any more, or not the same.
pub(crate) fn of_another_epoch(keys: &str) -> Error {
    let why = "it is not of the epoch that was opened: it was lost, alone or with all else, or a copy was put \
         back. Stop every program that uses it and find out what is missing, as the README of storagebox-redis says; then open the \
         store again";
    Error::corrupt(format_args!("what begins with {keys}"), why).on("redis")
}

/// A namespace that was made in this epoch is not there any more.
pub(crate) fn lost(keys: &str) -> Error {
    let why = "the namespace was made and is gone: its node came back empty, or its key was evicted or deleted. Stop every program \
         that uses the store, find out what is missing and give the store a new epoch, as the README of storagebox-redis says; then \
         open it again";
    Error::corrupt(format_args!("what begins with {keys}"), why).on("redis")
}

/// A right is missing.
pub(crate) fn denied(what: impl std::fmt::Display) -> Error {
    let why = format!("the user lacks a right: {what}; the README of storagebox-redis lists those that it needs");
    Error::new(ErrorKind::Denied, why).on("redis")
}

/// An answer that the library cannot read.
pub(crate) fn unreadable(of: &str) -> Error {
    Error::corrupt(format_args!("the answer of {of}"), "it is not what this version of the library asks for")
        .on("redis")
}

/// What makes no sense for the setting of this name.
pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("redis")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn each_code_of_the_table_is_of_its_kind() {
        for (code, expected) in [
            ("NOAUTH", ErrorKind::Denied),
            ("WRONGPASS", ErrorKind::Denied),
            ("OOM", ErrorKind::Unavailable),
            ("LOADING", ErrorKind::Unavailable),
            ("READONLY", ErrorKind::Unavailable),
            ("MASTERDOWN", ErrorKind::Unavailable),
            ("MISCONF", ErrorKind::Unavailable),
            ("NOREPLICAS", ErrorKind::Unavailable),
            ("CLUSTERDOWN", ErrorKind::Unavailable),
            ("BUSY", ErrorKind::Contention),
            ("MOVED", ErrorKind::Contention),
            ("ASK", ErrorKind::Contention),
            ("TRYAGAIN", ErrorKind::Contention),
        ] {
            assert_eq!(known(code).map(|(kind, _)| kind), Some(expected), "{code}");
        }
    }

    /// `ERR` and `NOPERM` too: a script that met them half-way has written what it had written.
    #[test]
    fn a_code_that_is_not_in_the_table_may_have_been_applied() {
        for code in ["", "ERR", "NOPERM", "EXECABORT", "UNKILLABLE", "oom"] {
            assert_eq!(known(code), None, "{code}");
        }
        let error = of(RedisError::from(io::Error::from(io::ErrorKind::ConnectionReset)), "shop:{b.namespace.0}");
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
    }

    #[test]
    fn what_was_never_sent_was_not_applied() {
        let error = connecting(RedisError::from(io::Error::from(io::ErrorKind::ConnectionRefused)));
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied));
    }
}
