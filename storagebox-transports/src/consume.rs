//! The worker loop.

mod consumed;
mod held;
mod options;
mod pull;
mod verdict;
mod worker;

use futures_util::Stream;
use storagebox_core::{BoxError, Key, Processor};

use crate::delivery::{Delivery, Received};

pub use consumed::Consumed;
pub use options::ConsumeOptions;

use pull::Pull;
use worker::Worker;

/// Processes the messages of a queue until the stream ends or [`ConsumeOptions::until`] says stop.
///
/// `entity_of` names the entity that a message changes. It must name the same entity for all copies of a message.
/// Messages of one entity are processed one after another, in the order of their arrival. Messages of different entities
/// run at once, up to [`ConsumeOptions::concurrency`]. Further messages wait, up to [`ConsumeOptions::prefetch`]. The
/// lease of every message is extended from its arrival until it is settled, whether it waits or is being processed.
///
/// | what happens | what becomes of the copy |
/// |---|---|
/// | every [`Outcome`](storagebox_core::Outcome), a duplicate too | acknowledged |
/// | a store, the handler or the dispatcher fails, or the handler panics | retried after a [pause](ConsumeOptions::backoff) |
/// | the handler fails at the attempt of [`ConsumeOptions::park_after`] or later | parked |
/// | it carries no token, it is malformed, or `entity_of` fails | parked |
/// | it waits when the loop is stopped | given back at once |
///
/// A parked message keeps its token: if it is sent again, it is processed once. To give it up for good, call
/// [`Processor::abandon`].
///
/// Errors of the queue do not end the loop. They are counted in [`Consumed`] and logged at `DEBUG`. After an error of the
/// stream the loop pauses, longer after each error in a row.
///
/// # Guarantees
///
/// - A copy is acknowledged only after the processor returned an outcome for it.
/// - When a copy is settled, no extension of its lease is under way, and none begins later.
/// - A processor that hangs blocks its own entity only, and its message's lease is still extended.
///
/// # Cancel safety
///
/// Safe. Dropping the future is the same as a crash of the worker: the queue hands the messages out again when their
/// leases end, and P-1 of the [`Processor`] holds. [`ConsumeOptions::until`] is the way to stop without that delay.
///
/// # Panics
///
/// If [`Delivery::settle`], `entity_of` or the observer panics.
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
        tokio::select! {
            biased;
            () = &mut until, if !pull.is_over() || worker.has_waiting() => {
                pull.end();
                worker.give_back();
            }
            Some(ended) = worker.ended() => worker.count(ended),
            item = pull.next(), if !pull.is_over() && worker.has_room() => match item {
                Some(Ok(delivery)) => worker.receive(delivery, &entity_of),
                Some(Err(error)) => worker.miss(&error),
                None => {}
            },
            else => return worker.consumed(),
        }
    }
}
