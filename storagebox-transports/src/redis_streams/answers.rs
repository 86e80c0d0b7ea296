//! The meaning of the server's errors for a queue.

use redis::RedisError;
use storagebox_core::{Error, ErrorKind};

/// Parts of the server's error texts, each with the kind and the text of the error for the caller.
const SAID: &[(&str, ErrorKind, &str)] = &[
    ("NOGROUP", ErrorKind::NotSetUp, "the queue has no group; it was not set up, or the server lost it"),
    ("can't run this command", ErrorKind::Denied, "the user lacks a right; the server says which"),
    ("can't access at least one of the keys", ErrorKind::Denied, "the user lacks the right to a key of the queue"),
    ("Invalid command passed", ErrorKind::Unsupported, "the server lacks a command; the cause says where"),
    ("Unknown Redis command", ErrorKind::Unsupported, "the server lacks a command; the cause says where"),
];

pub(super) fn of_queue(error: Error) -> Error {
    let Some(said) = said(&error) else { return error };
    match SAID.iter().find(|(text, ..)| said.contains(text)) {
        Some((_, kind, message)) => Error::new(*kind, *message).caused_by(said).on("redis").after_unresolved(),
        None => error,
    }
}

/// Returns the server's error text, with its code.
pub(super) fn said(error: &Error) -> Option<String> {
    let driver = std::error::Error::source(error)?.downcast_ref::<RedisError>()?;
    Some(format!("{} {}", driver.code()?, driver.detail().unwrap_or_default()))
}
