//! Ends a test program whose case blocks its thread: nothing can drop such a case.

use std::future::Future;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::{LOOK, STANDSTILL};

/// The exit code of a test program with a failed test.
const FAILED: i32 = 101;

tokio::task_local! {
    /// The number of checks that the thread of the running case has made.
    static CHECKS: Arc<AtomicU64>;
}

/// Watches one case from another thread.
pub(crate) struct Watch {
    checks: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Watch {
    /// Begins to watch a case. Ends the process if the case blocks its thread.
    pub(crate) fn begin(runtime: &Runtime, case: String) -> Self {
        let checks = Arc::<AtomicU64>::default();
        let is_blocked = blocked(Arc::clone(&checks));
        let task = runtime.spawn(async move {
            is_blocked.await;
            eprintln!("---- {case} ----\nthe case does not end: a call blocks its thread, or a loop never waits");
            exit(FAILED)
        });
        Self { checks, task }
    }

    /// Runs the case, and notes while it runs that its thread is not blocked.
    pub(crate) async fn over<T>(&self, case: impl Future<Output = T>) -> T {
        CHECKS.scope(Arc::clone(&self.checks), noting(case)).await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Notes that the thread of the running case is not blocked.
pub(super) fn note() {
    // A case of the library's own tests is not watched.
    let _ = CHECKS.try_with(|checks| checks.fetch_add(1, Ordering::Relaxed));
}

#[allow(clippy::disallowed_methods, reason = "a thread is blocked for real")]
async fn noting<T>(case: impl Future<Output = T>) -> T {
    let mut case = std::pin::pin!(case);
    loop {
        tokio::select! {
            biased;
            done = &mut case => return done,
            () = tokio::time::sleep(LOOK) => note(),
        }
    }
}

/// Waits until the thread of a case has made no check for longer than a case may make no progress.
#[allow(clippy::disallowed_methods, reason = "a thread is blocked for real")]
async fn blocked(checks: Arc<AtomicU64>) {
    let (mut seen, mut still) = (0, 0);
    while still <= STANDSTILL {
        tokio::time::sleep(LOOK).await;
        let now = checks.load(Ordering::Relaxed);
        still = if now == seen { still + 1 } else { 0 };
        seen = now;
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_a_blocked_thread_makes_no_checks() {
        let checks = Arc::<AtomicU64>::default();
        let waits = CHECKS.scope(Arc::clone(&checks), noting(pending::<()>()));
        let is_blocked = blocked(Arc::clone(&checks));
        let told = async {
            tokio::select! {
                () = waits => {}
                () = is_blocked => {}
            }
        };
        assert!(timeout(LOOK * STANDSTILL * 10, told).await.is_err());
        assert!(timeout(LOOK * (STANDSTILL + 2), blocked(checks)).await.is_ok());
    }
}
