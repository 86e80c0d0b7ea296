//! Sets a subscriber for the thread of one test, while other tests run on other threads.

use std::sync::LazyLock;

use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};
use tracing::{Dispatch, Subscriber};

/// A second subscriber makes `tracing` ask the subscriber of each thread about each log line.
// With a single subscriber, `tracing` caches the answer to a line for all threads. The subscriber of another test may
// reach the line first and ignore it.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

pub(crate) fn here(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    LazyLock::force(&SECOND);
    set_default(subscriber)
}
