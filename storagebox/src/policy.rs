//! What a handle does about errors by itself.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Deadline, Layer, Layered, Retries};
use storagebox_core::{Backend, Retry, Timer};

use crate::timer::TokioTimer;

/// How calls are repeated and bounded.
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
    /// Three times a backend's own timeout of one attempt.
    const DEADLINE: Duration = Duration::from_secs(30);

    /// The backend with the policy around each call. The deadline is for all attempts together.
    pub(crate) fn around(&self, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
        let timer = || Arc::clone(&self.timer);
        let retries = self.retry.map(|retry| Retries::new(retry, timer()));
        let deadline = self.deadline.map(|within| Deadline::new(within, timer()));
        put(deadline, put(retries, Arc::clone(backend)))
    }

    /// The backend with the deadline alone around each call, for who repeats calls by itself.
    pub(crate) fn bounding(&self, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
        Self { retry: None, ..self.clone() }.around(backend)
    }
}

fn put(layer: Option<impl Layer>, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
    match layer {
        Some(layer) => Arc::new(Layered::new(backend, Arc::new(layer))),
        None => backend,
    }
}
