//! Tracks whether a call was sent to the server. A call that times out before it is sent has surely changed nothing
//! (ER-1).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use storagebox_core::{Certainty, Error, ErrorKind, Result};

/// How many times the call was sent and not refused, or [`GIVEN_UP`] if the caller gave up before the call was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicI64>);

const GIVEN_UP: i64 = -1;

#[derive(Clone)]
enum Calls {
    /// The only call of the future. The caller of the call runs the future.
    One(Progress),
    /// The calls of a batch. Their callers are other tasks, each of which may give up.
    Batch(Arc<[Progress]>),
}

tokio::task_local! {
    static HERE: Calls;
}

impl Progress {
    pub(crate) fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        HERE.scope(Calls::One(self), work)
    }

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

/// Marks the calls of the current task as sent. Returns an error if the caller of one of these calls has given up.
pub(super) fn leave() -> Result<()> {
    match HERE.try_with(Calls::leave) {
        Ok(false) => {
            Err(Error::new(ErrorKind::Contention, "the batch was not sent: one of its callers gave up").on("postgres"))
        }
        _ => Ok(()),
    }
}

/// Returns `answer`. If the answer says that nothing was applied, marks the calls of the current task as refused.
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

/// Ends the calls of the current task after their timeout. Returns true if none of these calls can take effect.
pub(super) fn end() -> bool {
    HERE.try_with(Calls::end).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> Result<()> {
        back(Err(Error::new(ErrorKind::Contention, "another call holds the lock")))
    }

    #[tokio::test]
    async fn call_never_sent_or_always_refused_has_a_certain_outcome() {
        assert!(Progress::default().scope(async { end() }).await);
        let refused = async {
            leave().unwrap();
            refusal().unwrap_err();
            end()
        };
        assert!(Progress::default().scope(refused).await);
    }

    #[tokio::test]
    async fn call_sent_once_without_a_refusal_has_an_unknown_outcome() {
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

    /// A caller that gives up gets the answer that its call was not made, so the batch must not make that call.
    #[tokio::test]
    async fn batch_is_not_sent_after_one_of_its_callers_gave_up() {
        let (patient, impatient) = (Progress::default(), Progress::default());
        assert!(impatient.clone().scope(async { end() }).await);
        let batch = vec![patient.clone(), impatient];
        Progress::scope_of_batch(batch, async { assert!(leave().is_err() && end()) }).await;
        assert!(!patient.is_out());
    }
}
