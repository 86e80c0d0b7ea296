//! The store that a command works on.

use storagebox::{ErrorKind, Store};

use crate::cli::Global;
use crate::exit::Failure;
use crate::message::{Kind, eprint_message};
use crate::output::Reserved;
use crate::step::OPEN;

const MEMORY: &str = "memory:";
/// Where no URL is given: a file in the folder of the call, if this build can.
pub(crate) const DEFAULT: &str = if cfg!(feature = "sqlite") { "sqlite:storagebox.db" } else { MEMORY };

/// The store as it is, set up or not.
pub(crate) async fn open(global: &Global) -> Result<Store, Failure> {
    open_url(url(global)?).await
}

/// The variable that names the store.
pub(crate) const URL: &str = "STORAGEBOX_URL";
/// The variable that names a store to import from.
pub(crate) const FROM_URL: &str = "STORAGEBOX_FROM_URL";
/// What a command of `dedup run` finds in its place.
pub(crate) const URL_WITHHELD: &str = "STORAGEBOX_URL_WITHHELD";

/// Nobody's store is taken for one that was named and is not known here any more.
pub(crate) fn url(global: &Global) -> Result<&str, Failure> {
    match &global.url {
        Some(url) => Ok(url),
        None if std::env::var_os(URL_WITHHELD).is_some() => Err(Failure::UrlWithheld),
        None => Ok(DEFAULT),
    }
}

/// The files that it is kept in, which no output may replace, standard output among them.
pub(crate) fn reserved(global: &Global) -> Result<Reserved, Failure> {
    files_of(url(global)?)
}

/// Another store, that something is read from; no standard output may be one of its files either.
pub(crate) async fn other(url: &str) -> Result<Store, Failure> {
    files_of(url)?;
    open_url(url).await
}

fn files_of(url: &str) -> Result<Reserved, Failure> {
    Reserved::of_store(storagebox::files(url).map_err(not_opened)?)
}

/// The store, ready for work: the one that nobody named is made if it is not there.
///
/// A store with a name is never made by the way, because a name may be mistyped.
pub(crate) async fn ready(global: &Global) -> Result<Store, Failure> {
    let store = open(global).await?;
    if global.url.is_none() {
        make(&store).await?;
    }
    Ok(store)
}

/// A store for a show that need not last, unless one was named.
pub(crate) async fn for_a_while(global: &Global) -> Result<Store, Failure> {
    open_url(global.url.as_deref().unwrap_or(MEMORY)).await
}

/// Each call is made as often as a handle does, and each attempt has the backend's own timeout.
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

/// Asks once: whether the store answers now is the question.
pub(crate) async fn ping(store: &Store) -> storagebox::Result<()> {
    store.clone().without_retry().ping().await
}

/// Sets up the default store if it is not; says so, because a file appears. Whether it did.
async fn make(store: &Store) -> Result<bool, Failure> {
    let Err(before) = ping(store).await else { return Ok(false) };
    // Whatever it was: another process may be making it right now.
    store.setup().await?;
    let is_ours = before.kind() == ErrorKind::NotSetUp;
    if is_ours {
        let how = "--url or STORAGEBOX_URL names another one";
        eprint_message(Kind::Note, format_args!("made the store {DEFAULT} in this directory; {how}"));
    }
    Ok(is_ours)
}

/// What was done on a store, which is closed behind it.
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
    async fn a_store_that_is_not_there_is_made_once() {
        let store = bare();
        assert!(make(&store).await.unwrap());
        assert!(!make(&store).await.unwrap());
        store.ping().await.unwrap();
        assert!(!make(&memory()).await.unwrap());
    }

    /// Another process may have made it between the question and the answer.
    #[tokio::test]
    async fn a_store_in_trouble_for_a_moment_is_not_said_to_be_made() {
        assert!(!make(&failing(ErrorKind::Denied, 1)).await.unwrap());
    }

    #[tokio::test]
    async fn a_store_that_cannot_be_made_says_why() {
        let failure = make(&failing(ErrorKind::Denied, usize::MAX)).await.unwrap_err();
        assert_eq!(failure.to_string(), "cannot set up the store on memory: as the test asked");
    }
}
