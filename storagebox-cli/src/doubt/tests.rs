use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use storagebox::{Store, Strategy};

use super::*;
use crate::commands::faulty::{Instead, memory};

/// Returns a store that surely refuses every call after the first `answers` calls.
fn refuses_after(answers: usize) -> (Store, Arc<Changes>) {
    let (calls, changes) = (AtomicUsize::new(0), Arc::new(Changes::default()));
    let store = memory().layer(Instead(move |_: &Call<'_>| match calls.fetch_add(1, Ordering::Relaxed) {
        call if call >= answers => Err(Error::new(ErrorKind::Denied, "as the test asked")),
        _ => Ok(None),
    }));
    (store.layer(Arc::clone(&changes)), changes)
}

#[tokio::test]
async fn a_refused_change_is_a_doubt_only_after_an_answered_one() {
    for (answers, doubt) in [(0, None), (1, Some(Doubt::Repeatable))] {
        let (store, changes) = refuses_after(answers);
        let bank = store.bank("items").unwrap();
        for _ in 0..=answers {
            let _ = bank.add(["A"]).await;
        }
        assert_eq!(changes.end(), doubt, "{answers} answers");
    }
}

#[tokio::test]
async fn a_read_or_the_end_of_the_connections_is_no_change() {
    let (store, changes) = refuses_after(3);
    let bank = store.bank("items").unwrap();
    bank.counts().await.unwrap();
    store.ping().await.unwrap();
    store.close().await.unwrap();
    bank.add(["A"]).await.unwrap_err();
    assert_eq!(changes.end(), None);
}

#[tokio::test]
async fn the_doubt_of_a_command_is_the_worst_of_its_calls() {
    let (store, changes) = refuses_after(usize::MAX);
    let _ = store.counters_with("counters", Strategy::Atomic).unwrap().add("key", 1).by("op").await.unwrap();
    store.bank("items").unwrap().add(["A"]).await.unwrap();
    assert_eq!(changes.end(), Some(Doubt::Twice));
}

/// A task may outlive its command, whose failure says that nothing was changed.
#[tokio::test]
async fn no_change_begins_after_the_end() {
    let (store, changes) = refuses_after(usize::MAX);
    assert_eq!(changes.end(), None);
    let bank = store.bank("items").unwrap();
    assert!(bank.add(["A"]).now_or_never().is_none());
    assert_eq!(bank.counts().await.unwrap().free, 0);
}
