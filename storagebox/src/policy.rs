//! How handles retry and bound calls.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Answered, Call, Deadline, Layer, Layered, Next, Retries};
use storagebox_core::{Backend, Result, Retry, Timer, async_trait};

use crate::timer::TokioTimer;

/// The retries and the deadline of a store.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) retry: Option<Retry>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) timer: Arc<dyn Timer>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { retry: Some(Retry::default()), deadline: Some(Self::DEADLINE), timer: Arc::new(TokioTimer) }
    }
}

impl Policy {
    /// The default deadline: three times a backend's own timeout of one attempt.
    const DEADLINE: Duration = Duration::from_secs(30);

    /// Returns the backend with the policy around each call. The deadline covers all attempts.
    pub(crate) fn around(&self, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
        let timer = || Arc::clone(&self.timer);
        let retries = self.retry.map(|retry| Retries::new(retry, timer()));
        let deadline = self.deadline.map(|within| Deadline::new(within, timer()));
        layered(deadline, layered(retries, Arc::clone(backend)))
    }

    /// Returns the backend with only the deadline around each call, for a caller that retries on its own.
    pub(crate) fn bounding(&self, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
        Self { retry: None, ..self.clone() }.around(backend)
    }
}

fn layered(layer: Option<impl Layer>, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
    match layer {
        Some(layer) => Arc::new(Layered::new(backend, Arc::new(layer))),
        None => backend,
    }
}

/// Bounds each extension of a run's lease by a third of the lease, so that an unanswered one leaves time for the next.
#[derive(Debug)]
pub(crate) struct HeartbeatDeadline {
    pub(crate) timer: Arc<dyn Timer>,
}

#[async_trait]
impl Layer for HeartbeatDeadline {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        match call.argument::<Duration>() {
            Some(lease) if call.operation == "extend" => {
                Deadline::new(lease / 3, Arc::clone(&self.timer)).around(call, next).await
            }
            _ => next.call().await,
        }
    }
}
