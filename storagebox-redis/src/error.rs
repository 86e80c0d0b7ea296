//! The driver's errors, by code. What is not in the table may have been applied (ER-1).

use std::io;

use redis::RedisError;
use storagebox_core::backend::is_nameless;
use storagebox_core::{Certainty, Error, ErrorKind};

const FOREIGN: &str = "it is not what this version of the library writes";
const MOVING: &str = "the slot is on its way to another node";

/// What the first word of the server's error means for a script, which the server refuses before it runs.
const CODES: &[(&str, ErrorKind, &str)] = &[
    ("NOAUTH", ErrorKind::Denied, "the server wants a user and a password"),
    ("WRONGPASS", ErrorKind::Denied, "the server refused the user or the password"),
    ("NOPERM", ErrorKind::Denied, "the user lacks a right; the README of storagebox-redis lists those that it needs"),
    ("DENIED", ErrorKind::Denied, "the server is in protected mode, which lets in only its own machine"),
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

/// Of a script that found, before it wrote anything, that its user lacks rights to commands that it may need, or that
/// the server lacks these commands (`lua/lib/rights.lua`).
const LACKING: &str = "LACKING";
const REMOVED: &str = "REMOVED";

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

/// A call that was not sent, because the server had ended the connection.
pub(crate) fn unsent(error: RedisError) -> Error {
    Error::new(ErrorKind::Unavailable, "the server ends connections before anything is sent")
        .caused_by(error)
        .on("redis")
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

const UNFIT: &str = "the URL does not fit what is at its address; the cause says why";
pub(crate) const UNREACHABLE: &str = "the server could not be reached";

/// A name that could not be looked up, or for which there is no address.
pub(crate) fn resolving(error: io::Error) -> Error {
    match is_nameless(&error) {
        false => Error::new(ErrorKind::Unavailable, "the host's name could not be looked up"),
        true => Error::misconfigured("host", "is no name that resolves to an address"),
    }
    .caused_by(error)
    .on("redis")
}

/// A TLS handshake that failed. What either side refused it will refuse again.
pub(crate) fn securing(error: io::Error) -> Error {
    let refused = match tls_error(&error) {
        None => Error::new(ErrorKind::Unavailable, "the server ended the connection before TLS was agreed on"),
        Some(rustls::Error::AlertReceived(_)) => {
            Error::new(ErrorKind::Denied, "the server refused the TLS of the client")
        }
        Some(rustls::Error::InvalidCertificate(_)) => {
            let why =
                "is not trusted: `tls_ca_cert_file` names the CA that signed it; the cause says what is wrong with it";
            Error::misconfigured("the server's certificate", why)
        }
        Some(_) => {
            Error::misconfigured("rediss", "was asked for, and the server's TLS does not fit; the cause says why")
        }
    };
    refused.caused_by(error).on("redis")
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Whether this is what TLS says of what the other side refuses.
pub(crate) fn is_alert(error: &io::Error) -> bool {
    matches!(tls_error(error), Some(rustls::Error::AlertReceived(_)))
}

/// A connection that the server ended by an alert of TLS: it looks at the client's certificate after the handshake.
pub(crate) fn refusing(error: RedisError) -> Error {
    Error::new(ErrorKind::Denied, "the server refused the TLS of the client: it wants another certificate")
        .caused_by(error)
        .on("redis")
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

/// What a plain `ERR` says of a command that was not carried out. A script of ours never ends with one of these: it
/// catches its own errors (`lua/lib/answer.lua`).
const REFUSED: &[(&str, ErrorKind, &str)] = &[
    (
        "unknown command",
        ErrorKind::Unsupported,
        "the server does not know the command: `rename-command` took it away, or it is not Redis",
    ),
    (
        "Error compiling script",
        ErrorKind::Unsupported,
        "the server cannot read the script: it needs Redis 7.0 or later, or Valkey",
    ),
    ("Script killed by user", ErrorKind::Contention, "the administrator ended the script, which had written nothing"),
    ("max number of clients reached", ErrorKind::Unavailable, "the server has as many clients as it takes"),
    // Of `SELECT` and of what a cluster is asked for first, whose own words the driver leaves out.
    ("DB index is out of range", ErrorKind::Misconfigured, NO_DATABASE),
    ("invalid DB index", ErrorKind::Misconfigured, NO_DATABASE),
    ("SELECT is not allowed in cluster mode", ErrorKind::Misconfigured, NO_DATABASE),
    ("has no permissions to run", ErrorKind::Denied, "the user lacks a right to select the database; it needs +select"),
    ("Authentication required", ErrorKind::Denied, "the server wants a user and a password"),
    (BUSY, ErrorKind::Contention, "another script has been running for long"),
    (
        "cluster support disabled",
        ErrorKind::Misconfigured,
        "the server is no node of a cluster; its URL begins with redis:// or rediss://",
    ),
];

const NO_DATABASE: &str = "the server has no database of the number that the URL names";
const BUSY: &str = "Redis is busy running a script";

fn refused(error: &RedisError) -> Option<Error> {
    let detail = error.detail().filter(|_| error.code() == Some("ERR"))?;
    let (_, kind, message) = REFUSED.iter().find(|(beginning, ..)| detail.contains(beginning))?;
    Some(Error::new(*kind, *message))
}

/// A command is missing: a server that is not Redis, or one whose administrator removed or renamed it.
fn removed(commands: &str) -> Error {
    let what = format!("a server without the command {}", commands.to_ascii_uppercase());
    Error::unsupported(what, "one where no `rename-command` took away what the README of storagebox-redis lists")
        .on("redis")
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
    use super::*;

    #[test]
    fn each_code_of_the_table_is_of_its_kind() {
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
    fn a_code_that_is_not_in_the_table_may_have_been_applied() {
        for code in ["", "ERR", "EXECABORT", "UNKILLABLE", "oom"] {
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
