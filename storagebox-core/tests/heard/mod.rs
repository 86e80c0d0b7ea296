//! A subscriber of one test, beside the threads of the others.

use std::sync::LazyLock;

use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};
use tracing::{Dispatch, Subscriber};

/// While there is one subscriber alone, `tracing` decides for all threads by the one that comes to a line first:
/// another test's, which hears nothing. With a second one it asks them all.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

/// Hears what this thread says.
pub(crate) fn here(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    LazyLock::force(&SECOND);
    set_default(subscriber)
}
