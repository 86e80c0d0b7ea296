//! Errors of counters whose operations are not remembered.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use storagebox_core::{Attempt, Backend, Bounds, Change, Counter, ErrorKind, Strategy};
use storagebox_memory::MemoryStore;

/// Regression: the error was retryable, and a second call could have counted twice.
#[tokio::test]
async fn a_repeated_attempt_that_an_atomic_counter_refuses_is_not_retryable() {
    let store = MemoryStore::new();
    for (strategy, kind) in [(Strategy::Atomic, Some(ErrorKind::OutcomeUnknown)), (Strategy::default(), None)] {
        let counter = store.counter(&format!("{kind:?}").parse().unwrap(), strategy).unwrap();
        let change = Change::new("op".parse().unwrap(), -1).within(Bounds::at_least(0));
        let error = counter.attempt_apply(Attempt::first().again(), &"key".parse().unwrap(), &change).await.err();
        assert_eq!(error.as_ref().map(|error| (error.kind(), error.is_retryable())), kind.map(|kind| (kind, false)));
    }
}
