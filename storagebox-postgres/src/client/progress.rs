//! Tracks whether a call was sent to the server. A call that times out before it is sent has surely changed nothing
//! (ER-1).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use storagebox_core::{Certainty, Error, ErrorKind, Result};

/// The number of times that a call was sent and not refused, or [`GIVEN_UP`] if its caller gave up before it was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicI64>);

const GIVEN_UP: i64 = -1;

/// The calls that a future makes.
#[derive(Clone)]
enum Calls {
    /// The only call, whose caller runs the future.
    One(Progress),
    /// The calls of a batch. Their callers are other tasks, each of which may give up.
    Batch(Arc<[Progress]>),
}

tokio::task_local! {
    static HERE: Calls;
}

impl Progress {
    /// Runs the future that makes this call.
    pub(crate) fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        HERE.scope(Calls::One(self), work)
    }

    /// Runs the future that makes the calls of a batch.
    pub(crate) fn scope_of_batch<F: Future>(batch: Vec<Self>, work: F) -> impl Future<Output = F::Output> {
        HERE.scope(Calls::Batch(batch.into()), work)
    }

    fn leave(&self) -> bool {
        let leave = |times| (times != GIVEN_UP).then_some(times + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave).is_ok()
    }

    fn refused(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    fn is_out(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }

    fn give_up(&self) -> bool {
        self.0.compare_exchange(0, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Calls {
    fn all(&self) -> &[Progress] {
        match self {
            Self::One(call) => std::slice::from_ref(call),
            Self::Batch(calls) => calls,
        }
    }

    fn leave(&self) -> bool {
        let gone = self.all().iter().take_while(|call| call.leave()).count();
        let all_are = gone == self.all().len();
        if !all_are {
            self.all()[..gone].iter().for_each(Progress::refused);
        }
        all_are
    }

    fn end(&self) -> bool {
        match self {
            Self::One(call) => call.give_up(),
            Self::Batch(calls) => !calls.iter().any(Progress::is_out),
        }
    }
}

/// Runs `work` with the calls of the current task, or with a new call if the task has none.
pub(super) async fn scope<F: Future>(work: F) -> F::Output {
    let calls = HERE.try_with(Calls::clone).unwrap_or_else(|_| Calls::One(Progress::default()));
    HERE.scope(calls, work).await
}

/// Marks the calls of the current task as sent. Returns an error if the caller of one of the calls has given up.
pub(super) fn leave() -> Result<()> {
    match HERE.try_with(Calls::leave) {
        Ok(false) => Err(Error::new(ErrorKind::Contention, "a caller of the same batch gave up").on("postgres")),
        _ => Ok(()),
    }
}

/// Returns the answer, and marks the calls of the current task as refused if it says that nothing was applied.
pub(super) fn back<T>(answer: Result<T>) -> Result<T> {
    if answer.as_ref().is_err_and(|error| error.certainty() == Certainty::NotApplied) {
        refused();
    }
    answer
}

pub(super) fn refused() {
    // Outside a scope there is no call to mark.
    let _unknown = HERE.try_with(|calls| calls.all().iter().for_each(Progress::refused));
}

/// Ends the calls of the current task after their timeout. Returns whether they have surely changed nothing and never
/// will.
pub(super) fn end() -> bool {
    HERE.try_with(Calls::end).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> Result<()> {
        back(Err(Error::new(ErrorKind::Contention, "others are in the way")))
    }

    #[tokio::test]
    async fn call_that_was_never_sent_or_always_refused_is_certain() {
        assert!(Progress::default().scope(async { end() }).await);
        let refused = async {
            leave().unwrap();
            refusal().unwrap_err();
            end()
        };
        assert!(Progress::default().scope(refused).await);
    }

    #[tokio::test]
    async fn call_that_was_sent_once_without_a_refusal_is_unknown() {
        let lost = async {
            leave().unwrap();
            back(Err::<(), _>(Error::unknown("lost"))).unwrap_err();
            leave().unwrap();
            refusal().unwrap_err();
            end()
        };
        assert!(!Progress::default().scope(lost).await);
        let answered = async {
            leave().unwrap();
            back(Ok(())).unwrap();
            end()
        };
        assert!(!Progress::default().scope(answered).await);
    }

    /// The caller that gave up has been answered that its call was not made, so the batch must not make the call.
    #[tokio::test]
    async fn batch_is_not_sent_after_one_of_its_callers_gave_up() {
        let (patient, impatient) = (Progress::default(), Progress::default());
        assert!(impatient.clone().scope(async { end() }).await);
        let batch = vec![patient.clone(), impatient];
        Progress::scope_of_batch(batch, async { assert!(leave().is_err() && end()) }).await;
        assert!(!patient.is_out());
    }
}
