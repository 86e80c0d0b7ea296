//! The store that a command works on.

use std::sync::Arc;

use storagebox::Store;

use crate::cli::Global;
use crate::exit::Failure;
use crate::progress::say;
use crate::step::Step;

pub(crate) async fn open(global: &Global) -> Result<Arc<dyn Store>, Failure> {
    let store = storagebox::open(&global.url).await.map_err(|error| Step::Open.failed(error))?;
    if is_memory(&*store) {
        say(format_args!("note: memory: is a store in this program alone; it is gone when the program ends"));
    }
    Ok(store)
}

pub(crate) async fn close(store: &dyn Store) -> Result<(), Failure> {
    let closed = store.close().await;
    closed.map_err(|error| Step::Close.failed(error).on(store.backend()))
}

pub(crate) fn is_memory(store: &dyn Store) -> bool {
    store.backend() == "memory"
}
