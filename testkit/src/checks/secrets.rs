//! What must be shown nowhere, and the errors of a store that cannot be reached or may not be used.

use std::error::Error as _;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, ItemBank, Result};

use super::failed;
use crate::port;

/// Every password, key, item and value of these tests that is a secret has it in it.
pub const SECRET: &str = "hunter2";

/// An error that shows no secret, with all its causes and what was going on.
///
/// # Panics
///
/// If it shows one.
#[track_caller]
pub fn assert_hidden(error: &Error) {
    let mut shown = format!("{error} {error:?} {:?}", error.context().collect::<Vec<_>>());
    let mut cause = error.source();
    while let Some(next) = cause {
        shown.push_str(&format!(" {next}"));
        cause = next.source();
    }
    assert!(!shown.contains(SECRET), "{}", shown.replace(SECRET, "<the secret>"));
}

/// What is built of secrets shows none of them.
///
/// # Panics
///
/// If it shows one.
#[track_caller]
pub fn assert_none_shows(all: impl IntoIterator<Item = String>) {
    for shown in all {
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

/// The error of a first call and of a ping, which are to be of one kind, and to show nothing.
///
/// # Errors
///
/// As of the store, if it does not even open a namespace.
///
/// # Panics
///
/// If one of them is answered, or is refused otherwise than the other.
pub async fn refused(store: &dyn Backend) -> Result<Error> {
    let (ping, call) = (refused_ping(store).await, refused_call(store).await?);
    assert_eq!(ping.kind(), call.kind(), "{}: {ping} {call}", store.backend());
    Ok(call)
}

/// As [`refused`], for a store whose setup is refused in the same way.
///
/// # Errors
///
/// As of [`refused`].
///
/// # Panics
///
/// As [`refused`].
pub async fn refused_with_setup(store: &dyn Backend) -> Result<Error> {
    let (call, setup) = (refused(store).await?, store.setup().await.expect_err("a setup that was to be refused"));
    assert_hidden(&setup);
    assert_eq!(setup.kind(), call.kind(), "{}: {setup} {call}", store.backend());
    Ok(call)
}

async fn refused_ping(store: &dyn Backend) -> Error {
    let error = store.ping().await.expect_err("a ping that was to be refused");
    assert_hidden(&error);
    error
}

async fn refused_call(store: &dyn Backend) -> Result<Error> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    let error = bank.counts().await.expect_err("a call that was to be refused");
    assert_hidden(&error);
    Ok(error)
}

/// Stores at URLs whose password is wrong, or whose user is unknown.
///
/// # Errors
///
/// As of the store, if it is not even opened.
///
/// # Panics
///
/// If one of them is anything but denied.
pub async fn are_denied<S: Backend>(connect: impl Fn(&str) -> Result<S>, urls: &[String]) -> Result<()> {
    for (number, url) in urls.iter().enumerate() {
        let error = refused_with_setup(&connect(url)?).await?;
        assert_eq!(error.kind(), ErrorKind::Denied, "URL {number}: {error}");
    }
    Ok(())
}

/// A store at a port where nobody listens.
///
/// # Errors
///
/// That there is no such port, or as of the store.
///
/// # Panics
///
/// If it is anything but unavailable.
pub async fn where_nobody_listens<S: Backend>(connect: impl FnOnce(u16) -> Result<S>) -> Result<()> {
    let store = connect(port::free().map_err(failed)?)?;
    let error = refused_with_setup(&store).await?;
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
    assert!(error.is_retryable(), "{error}");
    Ok(())
}

/// A store that answered, and then is closed.
///
/// # Errors
///
/// As of the store.
///
/// # Panics
///
/// If it is anything but unavailable afterwards.
pub async fn once_closed(store: &dyn Backend) -> Result<()> {
    store.ping().await?;
    store.close().await?;
    let error = refused_call(store).await?;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    Ok(())
}
