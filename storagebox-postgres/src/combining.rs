//! Combines the calls of a store on tokio, if its settings say so.

use std::cmp::Ordering;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Certainty, Combine, Combined, Combiner, Error, Result};
use tokio::runtime::Handle;

use crate::client::{Client, Progress};

/// How long waiting calls wait for an earlier batch.
const STALL_TIMEOUT: Duration = Duration::from_millis(100);

/// Combines waiting calls into batches.
#[derive(Debug)]
pub(crate) struct Combining<C: Combine>(Arc<Combiner<Tracked<C>>>);

/// A call, and the progress that its caller and its batch share.
struct Tracked<C> {
    call: C,
    progress: Progress,
}

impl<C: Combine> Combine for Tracked<C> {
    type Key = C::Key;
    type Answer = C::Answer;

    const BACKEND: &'static str = C::BACKEND;
    const OPERATION: &'static str = C::OPERATION;

    fn key(&self) -> C::Key {
        self.call.key()
    }
}

/// Makes the call within its timeout, in a batch if combining is on.
pub(crate) async fn call<C, F>(
    combining: Option<&Combining<C>>,
    client: &Client,
    call: &C,
    alone: impl FnOnce(bool) -> F + Send,
) -> Result<C::Answer>
where
    C: Combine + Clone + Sync,
    F: Future<Output = Result<C::Answer>> + Send,
{
    let answer = match combining {
        None => client.in_time(alone(false)).await,
        Some(Combining(combiner)) => {
            let progress = Progress::default();
            let tracked = Tracked { call: call.clone(), progress: progress.clone() };
            progress.scope(client.in_time(combiner.call(tracked, alone))).await
        }
    };
    answer.map_err(|error| error.on(C::BACKEND).during(C::OPERATION))
}

/// Implements `Combine` for a call of this backend. A batch has at most one call of a key.
macro_rules! combine {
    ($operation:literal, $call:ident -> $answer:ty, |$this:ident| $key:expr => $key_type:ty) => {
        impl ::storagebox_core::Combine for $call {
            type Key = $key_type;
            type Answer = $answer;

            const BACKEND: &'static str = "postgres";
            const OPERATION: &'static str = $operation;

            fn key(&self) -> $key_type {
                let $this = self;
                $key
            }
        }
    };
}

pub(crate) use combine;

/// Returns a combiner that sends each batch with `together`; `None` if combining is off.
pub(crate) fn combiner<C, M, F>(
    client: &Client,
    most: usize,
    maker: &Arc<M>,
    together: fn(Arc<M>, Vec<C>) -> F,
) -> Option<Combining<C>>
where
    C: Combine,
    M: Send + Sync + 'static,
    F: Future<Output = Vec<Combined<Result<C::Answer>>>> + Send + 'static,
{
    let maker = Arc::clone(maker);
    (client.settings().combining && !client.is_joined()).then(|| {
        let together = Box::new(move |tracked: Vec<Tracked<C>>| {
            let (calls, progress) = tracked.into_iter().map(|one| (one.call, one.progress)).unzip();
            Box::pin(Progress::scope_of_batch(progress, together(Arc::clone(&maker), calls))) as _
        });
        Combining(Combiner::new(most, together, Box::new(spawn), Some(Box::new(patience))))
    })
}

/// Spawns the work on the current runtime, or drops the work if there is no runtime.
fn spawn(work: Pin<Box<dyn Future<Output = ()> + Send>>) {
    // If the work is dropped, each call that waits for the work is made alone.
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(work));
    }
}

#[allow(clippy::disallowed_methods, reason = "when the next batch begins; no promise depends on it")]
fn patience() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(tokio::time::sleep(STALL_TIMEOUT))
}

pub(crate) fn failed<A>(error: &Error, calls: usize) -> Vec<Combined<A>> {
    let lost = error.certainty() == Certainty::Unknown;
    (0..calls).map(|_| if lost { Combined::Lost } else { Combined::RunAlone }).collect()
}

/// Sorts the calls. Returns the former position of each call.
pub(crate) fn sort<C>(calls: &mut Vec<C>, order: impl Fn(&C, &C) -> Ordering) -> Vec<usize> {
    let mut numbered: Vec<_> = mem::take(calls).into_iter().enumerate().collect();
    numbered.sort_by(|(_, one), (_, other)| order(one, other));
    let (places, sorted) = numbered.into_iter().unzip();
    *calls = sorted;
    places
}

/// Makes a batch within its timeout. Returns the answers in the order that the calls had before [`sort`], which returned
/// `places`.
pub(crate) async fn answers<T>(
    client: &Client,
    places: Vec<usize>,
    batch: impl Future<Output = Result<Vec<T>>> + Send,
) -> Vec<Combined<Result<T>>> {
    let answers = match client.in_time(batch).await {
        Ok(answers) => answers,
        Err(error) => return failed(&error, places.len()),
    };
    let mut ordered: Vec<_> = places.into_iter().zip(answers).collect();
    ordered.sort_unstable_by_key(|(place, _)| *place);
    ordered.into_iter().map(|(_, answer)| Combined::Answer(Ok(answer))).collect()
}
