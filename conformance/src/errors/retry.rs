//! ER-4: how often a call is made, and the certainty of its answer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::{
    Attempt, Certainty, ClaimId, End, Error, ErrorKind, Hold, ItemBank, Result, Retry, Taken, Timer, async_trait,
};

use super::certainty::KINDS;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

/// A timer that records the durations of its sleeps and does not sleep.
#[derive(Debug, Default)]
pub(crate) struct Counting(Mutex<Vec<Duration>>);

impl Counting {
    pub(super) fn slept(&self) -> Vec<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Timer for Counting {
    fn now(&self) -> Duration {
        self.slept().iter().sum()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(duration);
    }
}

/// A bank that counts its calls and returns scripted answers, and then `Empty`.
struct Script {
    answers: Mutex<VecDeque<Result<Taken>>>,
    calls: AtomicUsize,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Result<Taken>>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), calls: AtomicUsize::new(0) }
    }

    fn failing(kinds: &[ErrorKind]) -> Self {
        Self::new(kinds.iter().map(|kind| Err(Error::new(*kind, "the script lets this attempt fail"))))
    }

    async fn call(&self) -> Result<Taken> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.pop_front().unwrap_or(Ok(Taken::Empty))
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

pub(super) async fn what_cannot_succeed_is_not_tried_again(_: &World) -> Verdict {
    for (kind, retryable) in KINDS {
        let answers = [Err(Error::new(kind, "the script lets this attempt fail")), Ok(Taken::Ended(End::Released))];
        let (script, timer) = (Script::new(answers), Counting::default());
        let answer = Retry::default().call(&timer, |_| script.call()).await;
        let calls = if retryable { 2 } else { 1 };
        ensure_eq!((script.calls(), timer.slept().len()), (calls, calls - 1), "calls and waits after {kind:?}");
        if retryable {
            continue;
        }
        let error = ensure_matches!(answer, Err(error) => error, "a call that fails with {kind:?}");
        ensure_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "the error passed through");
    }
    Ok(())
}

pub(super) async fn attempts_are_bounded(_: &World) -> Verdict {
    let (first_delay, max_delay) = (Duration::from_millis(20), Duration::from_millis(500));
    for (attempts, expected) in [(0, 1), (1, 1), (2, 2), (6, 6), (50, 50)] {
        for kind in [ErrorKind::Contention, ErrorKind::OutcomeUnknown] {
            let (script, timer) = (Script::failing(&[kind; 60]), Counting::default());
            let retry = Retry { attempts, first_delay, max_delay };
            let answer = retry.call(&timer, |_| script.call()).await;
            ensure_matches!(answer, Err(error) if error.kind() == kind, "a call that always fails");
            ensure_eq!(script.calls(), expected, "calls for {attempts} attempts");
            ensure_eq!(timer.slept().len(), expected - 1, "waits between {attempts} attempts");
            ensure!(timer.slept().iter().all(|wait| *wait >= first_delay), "a wait is shorter than the first");
        }
    }
    let (script, timer) = (Script::failing(&[ErrorKind::Throttled]), Counting::default());
    ensure!(Retry::NEVER.call(&timer, |_| script.call()).await.is_err(), "a call that is never repeated succeeds");
    ensure_eq!((script.calls(), timer.slept().len()), (1, 0), "calls and waits without retries");
    Ok(())
}

/// Returns how long a caller waits before each attempt if all attempts fail.
async fn waits(retry: Retry) -> Vec<Duration> {
    let (script, timer) = (Script::failing(&[ErrorKind::Contention; 60]), Counting::default());
    let _ = retry.call(&timer, |_| script.call()).await;
    timer.slept()
}

/// A call whose repetition may count twice is repeated after an error that changed nothing, but not after a lost
/// answer.
pub(super) async fn what_may_count_twice_is_not_tried_again(_: &World) -> Verdict {
    let failed = |kind| Err(Error::new(kind, "the script lets this attempt fail").unrepeatable());
    let script = Script::new([failed(ErrorKind::Contention), failed(ErrorKind::OutcomeUnknown)]);
    let answer = Retry::default().call(&Counting::default(), |_| script.call()).await;
    let error = ensure_matches!(answer, Err(error) => error, "a call whose answer was lost");
    ensure_eq!(script.calls(), 2, "calls, the second of which was lost");
    ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
    ensure!(!error.is_retryable(), "{error} is retryable");
    Ok(())
}

pub(super) async fn no_wait_is_longer_than_the_longest(_: &World) -> Verdict {
    let retry = Retry { attempts: 12, ..Retry::default() };
    for _ in 0..10 {
        let longest = waits(retry).await.into_iter().max();
        ensure!(longest <= Some(retry.max_delay), "a wait of {longest:?} is longer than {:?}", retry.max_delay);
    }
    Ok(())
}

/// Callers wait for different durations before a retry, so they do not conflict at every attempt.
pub(super) async fn callers_wait_differently(_: &World) -> Verdict {
    let first = waits(Retry::default()).await;
    for _ in 0..10 {
        if waits(Retry::default()).await != first {
            return Ok(());
        }
    }
    Err(Failure::new(format!("eleven callers wait for the same times: {first:?}")))
}

pub(super) async fn an_outcome_ends_the_attempts(_: &World) -> Verdict {
    let timer = Counting::default();
    let script = Script::new([Ok(Taken::Empty)]);
    let answer = Retry::default().call(&timer, |_| script.call()).await;
    ensure_eq!(answer?, Taken::Empty, "an outcome at the first attempt");
    ensure_eq!((script.calls(), timer.slept().len()), (1, 0), "calls and waits for it");
    let script = Script::failing(&[ErrorKind::Contention, ErrorKind::Throttled, ErrorKind::Unavailable]);
    let answer = Retry::default().call(&timer, |_| script.call()).await;
    ensure_eq!(answer?, Taken::Empty, "a true Empty after attempts that surely changed nothing");
    ensure_eq!(script.calls(), 4, "calls for it");
    Ok(())
}

pub(super) async fn the_least_certain_attempt_decides(_: &World) -> Verdict {
    use ErrorKind::{Contention, Denied, OutcomeUnknown, Throttled, Unavailable};
    let retry = Retry { attempts: 3, ..Retry::default() };
    let scripts = [
        ([Contention, Throttled, Unavailable], Unavailable, Certainty::NotApplied),
        ([Contention, Contention, Denied], Denied, Certainty::NotApplied),
        ([OutcomeUnknown, Contention, Contention], OutcomeUnknown, Certainty::Unknown),
        ([Contention, OutcomeUnknown, Unavailable], OutcomeUnknown, Certainty::Unknown),
        ([OutcomeUnknown, Contention, Denied], Denied, Certainty::Unknown),
        ([Contention, Contention, OutcomeUnknown], OutcomeUnknown, Certainty::Unknown),
    ];
    for (kinds, kind, certainty) in scripts {
        let (script, timer) = (Script::failing(&kinds), Counting::default());
        let answer = retry.call(&timer, |_| script.call()).await;
        let error = ensure_matches!(answer, Err(error) => error, "a call that fails with {kinds:?}");
        ensure_eq!((error.kind(), error.certainty()), (kind, certainty), "what is left of {kinds:?}");
    }
    Ok(())
}

/// Each attempt has the id of its call, and says whether an earlier attempt may still arrive.
pub(super) async fn an_attempt_after_a_lost_one_says_so(_: &World) -> Verdict {
    use ErrorKind::{Contention, OutcomeUnknown, Throttled};
    let step = Error::new(Contention, "a step of the call failed").after_unresolved();
    let lost = |kind| Error::new(kind, "the script lets this attempt fail");
    let scripts = [
        (vec![lost(Contention), lost(Throttled)], vec![false, false, false]),
        (vec![lost(Contention), lost(OutcomeUnknown), lost(Throttled)], vec![false, false, true, true]),
        (vec![step], vec![false, true]),
    ];
    for (errors, expected) in scripts {
        let script = Script::new(errors.into_iter().map(Err));
        let attempts = Mutex::new(Vec::new());
        let call = |attempt: Attempt| {
            attempts.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
            script.call()
        };
        let _ = Retry::default().call(&Counting::default(), call).await?;
        let attempts = attempts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let repeated: Vec<_> = attempts.iter().map(|attempt| attempt.is_repeated()).collect();
        ensure_eq!(repeated, expected, "which attempts follow a lost one");
        ensure!(attempts.iter().all(|attempt| attempt.call() == attempts[0].call()), "attempts of several calls");
    }
    Ok(())
}

pub(super) async fn a_lost_call_is_made_again_and_settled(world: &World) -> Verdict {
    let bank = world.filled(20).await?;
    for (number, fate) in [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice].into_iter().enumerate() {
        let claim = ClaimId::new(format!("claim-{number}"))?;
        let (link, timer) = (Link::script([fate; 1]), Counting::default());
        let far = link.before(&bank);
        let taken = Retry::default().call(&timer, |attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
        let item = ensure_matches!(taken, Taken::New(held) | Taken::Again(held) => held.item, "after {fate:?}");
        link.land().await;
        let again = bank.take(&claim, Hold::Forever).await?;
        ensure_eq!(again.item(), Some(&item), "the claim's item after {fate:?} and all that was late");
        ensure_eq!(bank.counts().await?.held, number as u64 + 1, "items held after {fate:?}");
    }
    Ok(())
}

pub(super) async fn an_exhausted_retry_leaves_the_call_to_be_made_again(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(3).await?, ClaimId::new("ada")?);
    let retry = Retry { attempts: 4, ..Retry::default() };
    for fate in [Fate::RequestLost, Fate::ReplyLost] {
        let (link, timer) = (Link::script([fate; 4]), Counting::default());
        let far = link.before(&bank);
        let answer = retry.call(&timer, |attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await;
        let error = ensure_matches!(answer, Err(error) => error, "four attempts that are lost");
        ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
        ensure_eq!(timer.slept().len(), 3, "waits between four attempts");
        let _ = far.take(&claim, Hold::Forever).await.map_err(Failure::from)?;
        ensure_eq!(bank.counts().await?.held, 1, "items held by one claim in all its attempts");
    }
    Ok(())
}
