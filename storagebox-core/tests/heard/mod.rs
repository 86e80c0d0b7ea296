//! A subscriber for the thread of one test, next to the threads of other tests.

use std::sync::LazyLock;

use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};
use tracing::{Dispatch, Subscriber};

/// A second subscriber. With only one, `tracing` caches for all threads the decision of the subscriber that reaches a
/// line first, which may be another test's that is not interested. With a second one it asks every subscriber.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

/// Sets the subscriber for this thread.
pub(crate) fn here(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    LazyLock::force(&SECOND);
    set_default(subscriber)
}
