//! How handles retry and bound calls.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Call, Layer, Layered, Next, Policy, Request, Response};
use storagebox_core::{Backend, Result, Retry, Timer, async_trait};

use crate::timer::TokioTimer;

/// The default deadline: three times a backend's own timeout of one attempt.
const DEADLINE: Duration = Duration::from_secs(30);

/// Returns the policy of a store for which the program sets no policy.
pub(crate) fn default_policy() -> Policy {
    Policy { retry: Some(Retry::default()), deadline: Some(DEADLINE), timer: Arc::new(TokioTimer) }
}

/// Returns the backend with a layer that applies the policy to each call.
pub(crate) fn around(policy: &Policy, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
    match policy {
        Policy { retry: None, deadline: None, .. } => Arc::clone(backend),
        _ => Arc::new(Layered::new(Arc::clone(backend), Arc::new(policy.clone()))),
    }
}

/// Returns the backend with a layer that applies only the deadline of the policy to each call.
pub(crate) fn bounding(policy: &Policy, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
    around(&Policy { retry: None, ..policy.clone() }, backend)
}

/// A layer that ends each extension of a lease after a third of the lease, which leaves time for another extension.
#[derive(Debug)]
pub(crate) struct HeartbeatDeadline {
    pub(crate) timer: Arc<dyn Timer>,
}

#[async_trait]
impl Layer for HeartbeatDeadline {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match call.request {
            Request::ExtendLease { duration, .. } => {
                let timer = Arc::clone(&self.timer);
                Policy { retry: None, deadline: Some(duration / 3), timer }.call(call, next).await
            }
            _ => next.run().await,
        }
    }
}
