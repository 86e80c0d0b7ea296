//! Maps the driver's errors, by code. A call with an error that is not in the table may have been applied (ER-1).

use std::io;

use redis::RedisError;
use storagebox_core::backend::is_nameless;
use storagebox_core::{Certainty, Error, ErrorKind};

const FOREIGN: &str = "it is not what this version of the library writes";
const MOVING: &str = "the slot is being moved to another node";

/// The error codes with which the server refuses a script before it runs.
const CODES: &[(&str, ErrorKind, &str)] = &[
    ("NOAUTH", ErrorKind::Denied, "the server requires a user and a password"),
    ("WRONGPASS", ErrorKind::Denied, "the server refused the user or the password"),
    ("NOPERM", ErrorKind::Denied, "the user lacks a right; the README of storagebox-redis lists all needed rights"),
    ("DENIED", ErrorKind::Denied, "the server is in protected mode and accepts only local connections"),
    ("OOM", ErrorKind::Unavailable, "the server is at its maxmemory"),
    ("LOADING", ErrorKind::Unavailable, "the server is still loading its data"),
    ("READONLY", ErrorKind::Unavailable, "the server is a read-only replica"),
    ("MASTERDOWN", ErrorKind::Unavailable, "the server is a replica that has lost its master"),
    ("MISCONF", ErrorKind::Unavailable, "the server cannot write to its disk"),
    ("NOREPLICAS", ErrorKind::Unavailable, "the server has fewer replicas than min-replicas-to-write"),
    ("CLUSTERDOWN", ErrorKind::Unavailable, "the cluster does not serve the slot"),
    ("BUSY", ErrorKind::Contention, "another script has been running for a long time"),
    ("MOVED", ErrorKind::Contention, "the slot has moved to another node"),
    ("ASK", ErrorKind::Contention, MOVING),
    ("TRYAGAIN", ErrorKind::Contention, MOVING),
];

/// The text of the error with which `lua/lib/slot.lua` stops a script before its first write.
const NOT_HERE: &str = "attempted to access a non local key";

/// The error code of a script that stops before its first write because the user lacks a right (`lua/lib/rights.lua`).
const LACKING: &str = "LACKING";
/// The error code of a script that stops before its first write because the server lacks a command
/// (`lua/lib/rights.lua`).
const REMOVED: &str = "REMOVED";

/// The error codes for data that this library did not write, and whether the call may have been applied. A script
/// reports the first two codes (`lua/lib/answer.lua`), and a single command reports the third.
const CORRUPT: [(&str, Certainty); 3] =
    [("CORRUPT", Certainty::NotApplied), ("HALFWAY", Certainty::Unknown), ("WRONGTYPE", Certainty::NotApplied)];

/// The error code of a script that finds no namespace, or another epoch, before its first write (`lua/lib/epoch.lua`).
const EPOCH: &str = "EPOCH";

/// Maps the error of a call that was sent. `keys` is the beginning of the keys that the call uses.
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
    if code == LACKING {
        return denied(error.detail().unwrap_or_default()).caused_by(error);
    }
    if code == REMOVED {
        return removed(error.detail().unwrap_or_default()).caused_by(error);
    }
    if let Some(refused) = refused(&error) {
        return refused.caused_by(error).on("redis");
    }
    if error.kind() == redis::ErrorKind::ClusterConnectionNotFound {
        // The driver is looking for the node meanwhile, so another attempt may find it.
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

/// Returns the error for a call that was not sent, because the server had ended the connection.
pub(crate) fn unsent(error: RedisError) -> Error {
    Error::new(ErrorKind::Unavailable, "the server ended the connection before the call was sent")
        .caused_by(error)
        .on("redis")
}

/// Returns whether the connection broke or leads to the wrong server.
pub(crate) fn ends_connection(error: &RedisError) -> bool {
    match error.code() {
        Some(code) => ["READONLY", "MASTERDOWN", "MOVED", "ASK", "CLUSTERDOWN"].contains(&code),
        None => true,
    }
}

/// Returns whether this error may mean that another node is the master now.
pub(crate) fn may_want_another_master(error: &RedisError) -> bool {
    // A master that is cut off from its replicas and the sentinels does not learn that it was replaced.
    error.code() == Some("NOREPLICAS")
}

/// Returns whether the server refused the login, or the connection broke.
pub(crate) fn may_want_another_login(error: &RedisError) -> bool {
    error.code().is_none_or(|code| ["NOAUTH", "WRONGPASS"].contains(&code))
}

/// Maps an error of opening a connection, before the call was sent.
pub(crate) fn connecting(error: RedisError) -> Error {
    let refused = error.kind() == redis::ErrorKind::AuthenticationFailed;
    if let Some(refused) = self::refused(&error) {
        return refused.caused_by(error).on("redis");
    }
    let found = known(error.code().unwrap_or_default());
    let (kind, message) = match found {
        _ if error.kind() == redis::ErrorKind::InvalidClientConfig => (ErrorKind::Misconfigured, UNFIT),
        _ if refused => (ErrorKind::Denied, "the server refused the user or the password"),
        Some(found) => found,
        None => (ErrorKind::Unavailable, UNREACHABLE),
    };
    Error::new(kind, message).caused_by(error).on("redis")
}

const UNFIT: &str = "the URL does not match the server at its address; the cause says why";
pub(crate) const UNREACHABLE: &str = "the server could not be reached";

pub(crate) fn resolving(error: io::Error) -> Error {
    match is_nameless(&error) {
        false => Error::new(ErrorKind::Unavailable, "the host's name could not be looked up"),
        true => Error::misconfigured("host", "does not resolve to an address"),
    }
    .caused_by(error)
    .on("redis")
}

pub(crate) fn securing(error: io::Error) -> Error {
    let refused = match tls_error(&error) {
        None => Error::new(ErrorKind::Unavailable, "the server ended the connection before TLS was negotiated"),
        Some(rustls::Error::AlertReceived(_)) => {
            Error::new(ErrorKind::Denied, "the server refused the TLS connection of the client")
        }
        Some(rustls::Error::InvalidCertificate(_)) => {
            let why =
                "is not trusted; the cause says why. Name the file of the CA that signed it in `tls_ca_cert_file`";
            Error::misconfigured("the server's certificate", why)
        }
        Some(_) => Error::misconfigured("rediss", "was asked for, but TLS could not be negotiated; the cause says why"),
    };
    refused.caused_by(error).on("redis")
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

pub(crate) fn is_alert(error: &io::Error) -> bool {
    matches!(tls_error(error), Some(rustls::Error::AlertReceived(_)))
}

/// Returns the error for a client certificate that the server refused after the TLS handshake.
pub(crate) fn refusing(error: RedisError) -> Error {
    Error::new(ErrorKind::Denied, "the server refused the TLS connection: it requires another client certificate")
        .caused_by(error)
        .on("redis")
}

/// Returns the error for data that is gone, or that has another epoch than when the program opened it.
pub(crate) fn of_another_epoch(keys: &str) -> Error {
    let why = "it has another epoch than when it was opened: the namespace or the whole store was lost, or a copy was \
        restored. Stop every program that uses it and find out what is missing, as the README of storagebox-redis \
        says; then open the store again";
    Error::corrupt(format_args!("the store or namespace whose keys begin with {keys}"), why).on("redis")
}

/// Returns the error for a namespace that was created in the current epoch and is gone.
pub(crate) fn lost(keys: &str) -> Error {
    let why = "it was created and no longer exists: its node restarted empty, or its key was evicted or deleted. Stop \
        every program that uses the store, find out what is missing and give the store a new epoch, as the README of \
        storagebox-redis says; then open it again";
    Error::corrupt(format_args!("the namespace whose keys begin with {keys}"), why).on("redis")
}

pub(crate) fn denied(what: impl std::fmt::Display) -> Error {
    let why = format!("the user lacks a right: {what}; the README of storagebox-redis lists all needed rights");
    Error::new(ErrorKind::Denied, why).on("redis")
}

/// The errors with the code `ERR`, by their text. Their commands had no effect: a script of this library never ends
/// with such an error, because it catches its own errors (`lua/lib/answer.lua`).
const REFUSED: &[(&str, ErrorKind, &str)] = &[
    (
        "unknown command",
        ErrorKind::Unsupported,
        "the server does not know the command: `rename-command` removed it, or the server is not Redis",
    ),
    (
        "Error compiling script",
        ErrorKind::Unsupported,
        "the server cannot read the script: it needs Redis 7.0 or later, or Valkey",
    ),
    ("Script killed by user", ErrorKind::Contention, "the administrator ended the script, which had written nothing"),
    ("max number of clients reached", ErrorKind::Unavailable, "the server has reached its maximum number of clients"),
    // Errors of `SELECT` and of the first command to a cluster. The driver leaves out their codes.
    ("DB index is out of range", ErrorKind::Misconfigured, NO_DATABASE),
    ("invalid DB index", ErrorKind::Misconfigured, NO_DATABASE),
    ("SELECT is not allowed in cluster mode", ErrorKind::Misconfigured, NO_DATABASE),
    ("has no permissions to run", ErrorKind::Denied, "the user may not select a database without the right +select"),
    ("Authentication required", ErrorKind::Denied, "the server requires a user and a password"),
    (BUSY, ErrorKind::Contention, "another script has been running for a long time"),
    (
        "cluster support disabled",
        ErrorKind::Misconfigured,
        "the server is not a cluster node; its URL begins with redis:// or rediss://",
    ),
];

const NO_DATABASE: &str = "the server has no database with the number in the URL";
const BUSY: &str = "Redis is busy running a script";

fn refused(error: &RedisError) -> Option<Error> {
    let detail = error.detail().filter(|_| error.code() == Some("ERR"))?;
    let (_, kind, message) = REFUSED.iter().find(|(beginning, ..)| detail.contains(beginning))?;
    Some(Error::new(*kind, *message))
}

/// Returns the error for missing commands: the server is not Redis, or its administrator removed or renamed them.
fn removed(commands: &str) -> Error {
    let what = format!("a server without the command {}", commands.to_ascii_uppercase());
    let instead = "a server without `rename-command` for the commands in the README of storagebox-redis";
    Error::unsupported(what, instead).on("redis")
}

/// Returns the error for an unreadable answer to the script or command `of`.
pub(crate) fn unreadable(of: &str) -> Error {
    Error::corrupt(format_args!("the answer of {of}"), "this version of the library cannot read it").on("redis")
}

pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("redis")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_code_maps_to_its_kind() {
        for (code, expected) in [
            ("NOAUTH", ErrorKind::Denied),
            ("WRONGPASS", ErrorKind::Denied),
            ("NOPERM", ErrorKind::Denied),
            ("DENIED", ErrorKind::Denied),
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

    #[test]
    fn an_unknown_code_is_outcome_unknown() {
        for code in ["", "ERR", "EXECABORT", "UNKILLABLE", "oom"] {
            assert_eq!(known(code), None, "{code}");
        }
        let error = of(RedisError::from(io::Error::from(io::ErrorKind::ConnectionReset)), "shop:{b.namespace.0}");
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
    }

    #[test]
    fn a_call_on_a_refused_connection_is_not_applied() {
        let error = connecting(RedisError::from(io::Error::from(io::ErrorKind::ConnectionRefused)));
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied));
    }
}
