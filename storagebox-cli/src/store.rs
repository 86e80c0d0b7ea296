//! The store that a command works on.

use std::sync::Arc;

use storagebox::{ErrorKind, Store};

use crate::cli::Global;
use crate::exit::Failure;
use crate::message::{Kind, eprint_message};
use crate::output::Reserved;
use crate::step::OPEN;

const MEMORY: &str = "memory:";
/// The URL of the default store: a file in the current directory, or memory in a build without SQLite.
pub(crate) const DEFAULT: &str = if cfg!(feature = "sqlite") { "sqlite:storagebox.db" } else { MEMORY };

/// Opens the store, which need not be set up.
pub(crate) async fn open(global: &Global) -> Result<Store, Failure> {
    watched(url(global)?, global).await
}

pub(crate) const URL: &str = "STORAGEBOX_URL";
pub(crate) const FROM_URL: &str = "STORAGEBOX_FROM_URL";
/// The environment variable that `dedup run` sets for its command in place of the URL.
pub(crate) const URL_WITHHELD: &str = "STORAGEBOX_URL_WITHHELD";

/// Returns the URL of the store. Fails if `dedup run` withheld the URL.
pub(crate) fn url(global: &Global) -> Result<&str, Failure> {
    match &global.url {
        Some(url) => Ok(url),
        // Without this error, the command would use the default store in place of the withheld store.
        None if std::env::var_os(URL_WITHHELD).is_some() => Err(Failure::UrlWithheld),
        None => Ok(DEFAULT),
    }
}

/// Returns the store's files, which no output may replace. Fails if standard output or standard error is one of these
/// files.
pub(crate) fn reserved(global: &Global) -> Result<Reserved, Failure> {
    files_of(url(global)?)
}

/// Opens another store to read from. Fails if standard output or standard error is one of the files of that store.
pub(crate) async fn other(url: &str) -> Result<Store, Failure> {
    files_of(url)?;
    open_url(url).await
}

fn files_of(url: &str) -> Result<Reserved, Failure> {
    Reserved::of_store(storagebox::files(url).map_err(not_opened)?)
}

/// Opens the store for work, and creates the default store if it does not exist.
pub(crate) async fn ready(global: &Global) -> Result<Store, Failure> {
    let store = open(global).await?;
    // A store with a URL is never created implicitly, because a URL may be mistyped.
    if global.url.is_none() {
        make(&store).await?;
        // The user asked for more than a store, and that may still be refused.
        global.changes.restart();
    }
    Ok(store)
}

/// Opens the named store, or a store in memory for a demonstration.
pub(crate) async fn for_a_while(global: &Global) -> Result<Store, Failure> {
    watched(global.url.as_deref().unwrap_or(MEMORY), global).await
}

/// Opens the store that the command may change.
async fn watched(url: &str, global: &Global) -> Result<Store, Failure> {
    Ok(open_url(url).await?.layer(Arc::clone(&global.changes)))
}

/// Opens a store without a deadline per call. Each attempt of a call has the timeout of the backend.
async fn open_url(url: &str) -> Result<Store, Failure> {
    let store = Store::open(url).await.map_err(not_opened)?.without_deadline();
    if is_memory(&store) {
        let what = "memory: is a store in this program alone; it is gone when the program ends";
        eprint_message(Kind::Note, format_args!("{what}"));
    }
    Ok(store)
}

fn not_opened(error: storagebox::Error) -> Failure {
    error.during(OPEN).into()
}

/// Pings the store once, without retries.
pub(crate) async fn ping(store: &Store) -> storagebox::Result<()> {
    store.clone().without_retry().ping().await
}

/// Sets up the default store if it is not set up. Returns whether this call created the store.
async fn make(store: &Store) -> Result<bool, Failure> {
    let Err(before) = ping(store).await else { return Ok(false) };
    // Sets up after any error, because another process may be setting the store up.
    store.setup().await?;
    let is_ours = before.kind() == ErrorKind::NotSetUp;
    if is_ours {
        let how = "--url or STORAGEBOX_URL names another one";
        eprint_message(Kind::Note, format_args!("made the store {DEFAULT} in this directory; {how}"));
    }
    Ok(is_ours)
}

/// Closes the store after the work, and returns the result of the work.
pub(crate) async fn closed<T>(store: &Store, done: Result<T, Failure>) -> Result<T, Failure> {
    let done = done?;
    close(store).await?;
    Ok(done)
}

pub(crate) async fn close(store: &Store) -> Result<(), Failure> {
    Ok(store.close().await?)
}

pub(crate) fn is_memory(store: &Store) -> bool {
    store.backend() == "memory"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::faulty::{bare, failing, memory};

    #[tokio::test]
    async fn the_default_store_is_created_once() {
        let store = bare();
        assert!(make(&store).await.unwrap());
        assert!(!make(&store).await.unwrap());
        store.ping().await.unwrap();
        assert!(!make(&memory()).await.unwrap());
    }

    /// The ping fails once, so it is unknown whether the store existed before.
    #[tokio::test]
    async fn a_store_is_not_reported_as_created_after_a_temporary_error() {
        assert!(!make(&failing(ErrorKind::Denied, 1)).await.unwrap());
    }

    #[tokio::test]
    async fn a_store_that_cannot_be_created_returns_the_reason() {
        let failure = make(&failing(ErrorKind::Denied, usize::MAX)).await.unwrap_err();
        assert_eq!(failure.to_string(), "cannot set up the store on memory: as the test asked");
    }
}
