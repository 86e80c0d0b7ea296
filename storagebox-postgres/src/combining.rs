//! How a store combines its calls: on tokio, if its settings say so.

use std::cmp::Ordering;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Certainty, Combine, Combined, Combiner, Error, Result};
use tokio::runtime::Handle;

use crate::client::{Client, Progress};

/// Many times what a statement takes that nobody is in the way of.
const STALL_TIMEOUT: Duration = Duration::from_millis(100);

/// Calls that go together, each for as long as its caller waits.
#[derive(Debug)]
pub(crate) struct Combining<C: Combine>(Arc<Combiner<Tracked<C>>>);

/// A call of which its caller and its batch both know whether it has left.
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

/// Makes the call in time: alone, or with others that wait, where calls are combined.
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

/// Makes a struct one of the calls of Postgres that go together, of each key one at a time.
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

/// What makes batches by this method of the maker, if combining is on.
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
    client.settings().combining.then(|| {
        let together = Box::new(move |tracked: Vec<Tracked<C>>| {
            let (calls, progress) = tracked.into_iter().map(|one| (one.call, one.progress)).unzip();
            Box::pin(Progress::scope_of_batch(progress, together(Arc::clone(&maker), calls))) as _
        });
        Combining(Combiner::new(most, together, Box::new(spawn), Some(Box::new(patience))))
    })
}

/// In the runtime that is there; without one the work is dropped, and those who wait for it go alone.
fn spawn(work: Pin<Box<dyn Future<Output = ()> + Send>>) {
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(work));
    }
}

#[allow(clippy::disallowed_methods, reason = "when the next batch begins; no promise depends on it")]
fn patience() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(tokio::time::sleep(STALL_TIMEOUT))
}

/// What became of every call of a batch that failed as a whole.
pub(crate) fn failed<A>(error: &Error, calls: usize) -> Vec<Combined<A>> {
    let lost = error.certainty() == Certainty::Unknown;
    (0..calls).map(|_| if lost { Combined::Lost } else { Combined::RunAlone }).collect()
}

/// Sorts the calls and tells the place that each had before.
pub(crate) fn sort<C>(calls: &mut Vec<C>, order: impl Fn(&C, &C) -> Ordering) -> Vec<usize> {
    let mut numbered: Vec<_> = mem::take(calls).into_iter().enumerate().collect();
    numbered.sort_by(|(_, one), (_, other)| order(one, other));
    let (places, sorted) = numbered.into_iter().unzip();
    *calls = sorted;
    places
}

/// The answers of sorted calls, each back in the place that its call had.
pub(crate) fn in_order<T>(places: Vec<usize>, answers: Vec<T>) -> Vec<Combined<Result<T>>> {
    let mut ordered: Vec<_> = places.into_iter().zip(answers).collect();
    ordered.sort_unstable_by_key(|(place, _)| *place);
    ordered.into_iter().map(|(_, answer)| Combined::Answer(Ok(answer))).collect()
}
