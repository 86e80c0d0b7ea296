//! Whether the server is still there. Without it cases fail or wait, and that says nothing of the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox::{Error, ErrorKind};
use storagebox_conformance::Stop;
use tokio::time::{sleep, timeout};

use super::TestTarget;

/// Between two looks.
pub(super) const PAUSE: Duration = Duration::from_secs(5);

/// A server that is there answers sooner, on a busy machine too.
pub(super) const ANSWER: Duration = Duration::from_secs(30);

/// How often in a row the server may be silent while cases are under way: it may restart meanwhile.
const LOOKS: u32 = 4;

/// Ends a run whose server is gone.
pub(super) struct Watch {
    ground: Arc<dyn TestTarget>,
    stop: Stop,
    gone: Mutex<Option<Error>>,
}

impl Watch {
    pub(super) fn of(ground: &Arc<dyn TestTarget>) -> Arc<Self> {
        Arc::new(Self { ground: Arc::clone(ground), stop: Stop::new(), gone: Mutex::default() })
    }

    /// What ends the run.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Ends the run when the server has been silent for long.
    pub(super) async fn keep(&self) {
        let error = silence(&*self.ground, LOOKS).await;
        self.end(error);
    }

    /// Whether the server is there, now that a case has failed. If it is not, that was why, and the run ends.
    pub(super) async fn is_there(&self) -> bool {
        look(&*self.ground).await.map_err(|error| self.end(error)).is_ok()
    }

    /// Why the run was ended, if the server is gone.
    pub(super) fn gone(&self) -> Option<Error> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&self, error: Error) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.now();
    }
}

/// Waits until the server has been silent at so many looks in a row, and returns the last reason.
#[allow(clippy::disallowed_methods, reason = "a server is looked for in real time")]
pub(super) async fn silence(ground: &dyn TestTarget, looks: u32) -> Error {
    let mut silent = 0;
    loop {
        sleep(PAUSE).await;
        match look(ground).await {
            Ok(()) => silent = 0,
            Err(error) if silent + 1 == looks => return error,
            Err(_) => silent += 1,
        }
    }
}

async fn look(ground: &dyn TestTarget) -> Result<(), Error> {
    timeout(ANSWER, ground.reach()).await.unwrap_or_else(|_| Err(unanswered(ANSWER)))
}

pub(super) fn unanswered(time: Duration) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the server has not answered for {} s", time.as_secs()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use storagebox::async_trait;
    use storagebox_conformance::Harness;

    use super::*;

    /// Answers after so many looks, and then always.
    struct Restarting(AtomicU32);

    #[async_trait]
    impl TestTarget for Restarting {
        fn harness(&self) -> Box<dyn Harness> {
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

        async fn remove(&self) -> Result<(), Error> {
            Ok(())
        }

        fn left(&self) -> String {
            String::new()
        }
    }

    fn watched(looks: u32) -> Arc<Watch> {
        let ground: Arc<dyn TestTarget> = Arc::new(Restarting(looks.into()));
        Watch::of(&ground)
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_restarts_is_waited_for() {
        let watch = watched(LOOKS - 1);
        timeout(Duration::from_secs(3_600), watch.keep()).await.unwrap_err();
        assert!(!watch.stop().is_asked() && watch.gone().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_silent_for_long_ends_the_run() {
        let watch = watched(LOOKS);
        watch.keep().await;
        assert!(watch.stop().is_asked());
        assert_eq!(watch.gone().unwrap().message(), "the server has not answered for 30 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_without_a_server_is_none() {
        let watch = watched(1);
        assert!(!watch.is_there().await && watch.stop().is_asked());
        assert!(watch.is_there().await, "it is back");
    }
}
