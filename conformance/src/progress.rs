//! Ends a case that makes no progress. The number of steps counts, not the time, which depends on the machine.

mod watch;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{Either, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::failure::Failure;

pub(crate) use watch::Watch;

const LOOK: Duration = Duration::from_secs(10);

/// A case is ended after this many successive checks without progress, which take three minutes.
const STANDSTILL: u32 = 18;

/// The limit on the steps of a case, which ends a case that retries without a pause.
const MOST_STEPS: u64 = 2_000_000;

tokio::task_local! {
    /// The number of steps of the running case: polls of its futures.
    static STEPS: Arc<AtomicU64>;
}

/// Runs a case, or a part of a case, for as long as it makes progress.
pub(crate) async fn bounded<T: Send>(case: impl Future<Output = T> + Send) -> Result<T, Failure> {
    let steps = Arc::<AtomicU64>::default();
    let case = STEPS.scope(Arc::clone(&steps), counted(case)).map(Ok);
    // `FuturesUnordered` polls each future only when that future was woken, so a check does not count as a step.
    let mut both = FuturesUnordered::from_iter([Either::Left(case), Either::Right(standstill(&steps).map(Err))]);
    both.next().await.unwrap_or_else(|| Err(Failure::unfinished("the case was not run")))
}

/// Wraps the future of a separate task, so that its steps count as steps of this case.
pub(crate) fn on_its_own<T>(future: impl Future<Output = T>) -> impl Future<Output = T> {
    let steps = STEPS.try_with(Arc::clone).unwrap_or_default();
    STEPS.scope(steps, counted(future))
}

async fn counted<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        // Outside of a case, steps are not counted.
        let _ = STEPS.try_with(|steps| steps.fetch_add(1, Ordering::Relaxed));
        future.as_mut().poll(context)
    })
    .await
}

#[allow(clippy::disallowed_methods, reason = "a case may wait for real, and is looked at for real")]
async fn standstill(steps: &AtomicU64) -> Failure {
    let (mut seen, mut still) = (0, 0);
    while seen < MOST_STEPS && still < STANDSTILL {
        tokio::time::sleep(LOOK).await;
        watch::note();
        let now = steps.load(Ordering::Relaxed);
        still = if now == seen { still + 1 } else { 0 };
        seen = now;
    }
    Failure::unfinished(match still {
        STANDSTILL => format!("the case has made no progress for {:?}: a call has no answer", LOOK * STANDSTILL),
        _ => format!("the case has made {seen} steps and does not end"),
    })
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;
    use tokio::time::sleep;

    use super::*;
    use crate::failure::FailureKind;

    #[tokio::test(start_paused = true)]
    async fn a_case_that_makes_progress_may_take_any_time() {
        let case = async {
            for _ in 0..1_000 {
                sleep(LOOK * (STANDSTILL - 1)).await;
            }
        };
        assert!(bounded(case).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn steps_of_a_spawned_task_count_as_progress_of_the_case() {
        let case = async {
            let task = async {
                for _ in 0..10 {
                    sleep(LOOK * (STANDSTILL - 1)).await;
                }
            };
            tokio::spawn(on_its_own(task)).await
        };
        assert!(bounded(case).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_case_without_progress_is_ended() {
        let why = bounded(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(why.to_string(), "the case has made no progress for 180s: a call has no answer");
        assert_eq!(why.kind(), FailureKind::Unfinished);
    }

    #[tokio::test(start_paused = true)]
    async fn a_case_with_too_many_steps_is_ended() {
        let case = async {
            loop {
                // Adds many steps at once, because making them would take too long here.
                STEPS.with(|steps| steps.fetch_add(MOST_STEPS / 100, Ordering::Relaxed));
                sleep(LOOK).await;
                yield_now().await;
            }
        };
        let why = bounded::<()>(case).await.unwrap_err();
        assert!(why.to_string().ends_with("does not end"), "{why}");
        assert_eq!(why.kind(), FailureKind::Unfinished);
    }
}
