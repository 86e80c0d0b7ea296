//! The worker loop.

mod busy;
mod consumed;
mod held;
mod missed;
mod options;
mod pull;
mod turn;
mod verdict;
mod worker;

use futures_util::Stream;
use storagebox_core::{BoxError, Key, Processor};
use tokio::time::Instant;

use crate::delivery::{Delivery, Received};

pub use consumed::Consumed;
pub use options::ConsumeOptions;

use pull::Pull;
use worker::Worker;

/// Processes the messages of a queue until the stream ends or [`ConsumeOptions::until`] stops the loop.
///
/// `entity_of` names the entity that a message changes. It must name the same entity for all copies of a message.
/// Messages of one entity are processed one after another, in the order of their arrival. Messages of different
/// entities run at once, up to [`ConsumeOptions::concurrency`]. Further messages wait, up to
/// [`ConsumeOptions::prefetch`]. The lease of every message is extended from its arrival until it is settled, whether
/// it waits or is being processed.
///
/// | what happens | what becomes of the copy |
/// |---|---|
/// | every [`Outcome`](storagebox_core::Outcome), a duplicate too | acknowledged |
/// | a store or the dispatcher fails, the handler fails or panics | retried after a [pause](ConsumeOptions::backoff) |
/// | the handler fails at the attempt of [`ConsumeOptions::park_after`] or later | parked |
/// | its worker ended [too often](ConsumeOptions::park_after) while it ran alone | parked, before it runs again |
/// | it carries no token, it is malformed, or `entity_of` fails or panics | parked |
/// | it waits when the loop is stopped | given back at once |
///
/// A parked message keeps its token: if it is sent again, it is processed once. To give up the message permanently,
/// call [`Processor::abandon`].
///
/// If a worker ends while it holds a message, the message may be the cause. So the message [runs
/// alone](Delivery::lapsed), before the others: it begins once nothing else runs, and no other message begins or is
/// taken meanwhile. The loop waits for each run no longer than the lease. Of all loops of a runtime, only one at a time
/// has a message that runs alone. So messages that ran or waited together with a message that ends its workers are
/// processed, and only that message is parked. A lone run counts only if no settlement follows. A worker that is killed
/// counts like a worker that its message ended. An `entity_of` that ends the process, other than by a panic, is not
/// counted.
///
/// Errors of the queue are counted in [`Consumed`]. Errors of the stream are logged at `WARN`, those of one kind at
/// most every five minutes, and in between at `DEBUG`. A message whose settlement failed is logged in the same way,
/// with the reason. After an error of the stream the loop pauses, longer after each error in a row.
///
/// An error that a retry cannot resolve ends the loop as [`ConsumeOptions::until`] does. It is in
/// [`Consumed::error`], and logged at `ERROR`. These are the storagebox errors of the kinds `Denied` (a login or a
/// right), `Unsupported` (a command that the server lacks), `Corrupt` (a key, a queue or a table of another shape) and
/// `InvalidInput`. A queue that refuses to settle a message with `Denied` or `Unsupported` ends the loop too.
///
/// # Guarantees
///
/// - A copy is acknowledged only after the processor returned an outcome for it.
/// - When a copy is settled, no extension of its lease is in progress, and none begins later.
/// - A processor that hangs blocks its own entity. If a message is to run alone, it blocks others too,
///   for at most one lease. The lease of its message is still extended.
///
/// # Cancel safety
///
/// Safe. Dropping the future is the same as a crash of the worker: the queue hands the messages out again when their
/// leases end, and P-1 of the [`Processor`] holds. [`ConsumeOptions::until`] is the way to stop without that delay.
///
/// # Panics
///
/// If [`Delivery::settle`] or the observer panics.
pub async fn consume<D, E>(
    deliveries: impl Stream<Item = Result<D, BoxError>> + Send,
    entity_of: E,
    processor: &Processor,
    options: ConsumeOptions,
) -> Consumed
where
    D: Delivery,
    E: Fn(&Received) -> Result<Key, BoxError> + Send,
{
    let ConsumeOptions { mut until, settings } = options;
    let mut pull = Pull::new(deliveries);
    let mut worker = Worker::new(processor, settings);
    loop {
        worker.begin();
        let held_up = worker.held_up_until();
        tokio::select! {
            biased;
            () = &mut until, if !pull.is_over() || worker.has_waiting() => {
                pull.end();
                worker.give_back();
            }
            Some(ended) = worker.ended() => pull.end_if(worker.count(ended)),
            () = passed(held_up), if held_up.is_some() => {}
            item = pull.next(), if !pull.is_over() && worker.has_room() => match item {
                Some(Ok(delivery)) => worker.receive(delivery, &entity_of),
                Some(Err(error)) => pull.end_if(worker.misses(error)),
                None => {}
            },
            else => return worker.consumed(),
        }
    }
}

/// Waits until the time `until`, or not at all if `until` is `None`.
#[allow(clippy::disallowed_methods, reason = "for how long a run holds others up; no promise depends on it")]
async fn passed(until: Option<Instant>) {
    if let Some(until) = until {
        tokio::time::sleep_until(until).await;
    }
}
