//! Secrets that must never be shown, and the errors of a store that cannot be reached or may not be used.

use std::error::Error as _;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, ItemBank, Result};

use super::failed;
use crate::port;

/// The text that every secret password, key, item and value of these tests contains.
pub const SECRET: &str = "hunter2";

/// Checks that an error, its causes and its context do not contain the secret.
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

/// Checks that these texts, which were built from secrets, do not contain the secret.
#[track_caller]
pub fn assert_none_shows(all: impl IntoIterator<Item = String>) {
    for shown in all {
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

/// Returns the error of a call. Checks that `ping` fails with the same kind, and that no error contains the secret.
pub async fn refused(store: &dyn Backend) -> Result<Error> {
    let (ping, call) = (refused_ping(store).await, refused_call(store).await?);
    assert_eq!(ping.kind(), call.kind(), "{}: {ping} {call}", store.backend());
    Ok(call)
}

/// Returns the error of a call. Checks that `ping` and `setup` fail with the same kind, and that no error contains the
/// secret.
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

/// Checks that the calls of stores with a wrong password or an unknown user fail with `Denied`.
pub async fn are_denied<S: Backend>(connect: impl Fn(&str) -> Result<S>, urls: &[String]) -> Result<()> {
    for (number, url) in urls.iter().enumerate() {
        let error = refused_with_setup(&connect(url)?).await?;
        assert_eq!(error.kind(), ErrorKind::Denied, "URL {number}: {error}");
    }
    Ok(())
}

/// Checks that calls to a port where no server listens fail with `Unavailable`, and that the errors say that nothing
/// was applied.
pub async fn where_nobody_listens<S: Backend>(connect: impl FnOnce(u16) -> Result<S>) -> Result<()> {
    let store = connect(port::free().map_err(failed)?)?;
    let error = refused_with_setup(&store).await?;
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
    assert!(error.is_retryable(), "{error}");
    Ok(())
}

/// Checks that a call after `close` fails with `Unavailable`.
pub async fn once_closed(store: &dyn Backend) -> Result<()> {
    store.ping().await?;
    store.close().await?;
    let error = refused_call(store).await?;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    Ok(())
}
