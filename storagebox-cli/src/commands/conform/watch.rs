//! Checks that the server still answers. Without a server, cases fail or wait, and their results say nothing about the
//! store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox::{Error, ErrorKind};
use storagebox_conformance::Stop;
use tokio::time::{sleep, timeout};

use super::TestTarget;

/// The time between two checks.
pub(super) const PAUSE: Duration = Duration::from_secs(5);

/// The time within which a running server answers, even on a busy machine.
pub(super) const ANSWER: Duration = Duration::from_secs(30);

/// The number of failed checks in a row that end a run. A server that only restarts fails fewer checks.
const CHECKS: u32 = 4;

/// Ends a run whose server is gone.
pub(super) struct Watch {
    target: Arc<dyn TestTarget>,
    stop: Stop,
    gone: Mutex<Option<Error>>,
}

impl Watch {
    pub(super) fn of(target: &Arc<dyn TestTarget>) -> Arc<Self> {
        Arc::new(Self { target: Arc::clone(target), stop: Stop::new(), gone: Mutex::default() })
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Checks the server regularly, and ends the run after `CHECKS` failed checks in a row.
    pub(super) async fn keep(&self) {
        let error = silence(&*self.target, CHECKS).await;
        self.end(error);
    }

    /// Returns whether the server answers. Ends the run if the server does not answer.
    pub(super) async fn is_there(&self) -> bool {
        check(&*self.target).await.map_err(|error| self.end(error)).is_ok()
    }

    /// Returns why the run was ended, if the server is gone.
    pub(super) fn gone(&self) -> Option<Error> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&self, error: Error) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.now();
    }
}

/// Waits until this number of checks in a row have failed, and returns the last error.
#[allow(clippy::disallowed_methods, reason = "a server is looked for in real time")]
pub(super) async fn silence(target: &dyn TestTarget, checks: u32) -> Error {
    let mut silent = 0;
    loop {
        sleep(PAUSE).await;
        match check(target).await {
            Ok(()) => silent = 0,
            Err(error) if silent + 1 == checks => return error,
            Err(_) => silent += 1,
        }
    }
}

async fn check(target: &dyn TestTarget) -> Result<(), Error> {
    timeout(ANSWER, target.reach()).await.unwrap_or_else(|_| Err(unanswered(ANSWER)))
}

pub(super) fn unanswered(time: Duration) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the server has not answered for {} s", time.as_secs()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use storagebox::async_trait;
    use storagebox_conformance::Declared;

    use super::super::cases::Case;
    use super::*;

    /// A target that fails this number of checks, and then always answers.
    struct Restarting(AtomicU32);

    #[async_trait]
    impl TestTarget for Restarting {
        fn name(&self) -> String {
            String::new()
        }

        fn declared(&self) -> Declared {
            Declared::all()
        }

        async fn bare(&self, _: u64) -> Result<Case, Error> {
            unreachable!("nothing is run")
        }

        async fn reach(&self) -> Result<(), Error> {
            match self.0.load(Ordering::Relaxed) {
                0 => Ok(()),
                left => {
                    self.0.store(left - 1, Ordering::Relaxed);
                    std::future::pending().await
                }
            }
        }

        fn left(&self) -> String {
            String::new()
        }
    }

    fn watched(checks: u32) -> Arc<Watch> {
        let target: Arc<dyn TestTarget> = Arc::new(Restarting(checks.into()));
        Watch::of(&target)
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_restarts_does_not_end_the_run() {
        let watch = watched(CHECKS - 1);
        timeout(Duration::from_secs(3_600), watch.keep()).await.unwrap_err();
        assert!(!watch.stop().is_asked() && watch.gone().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stays_silent_ends_the_run() {
        let watch = watched(CHECKS);
        watch.keep().await;
        assert!(watch.stop().is_asked());
        assert_eq!(watch.gone().unwrap().message(), "the server has not answered for 30 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_case_ends_the_run_if_the_server_is_gone() {
        let watch = watched(1);
        assert!(!watch.is_there().await && watch.stop().is_asked());
        assert!(watch.is_there().await, "it is back");
    }
}
