//! How handles retry and bound calls.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Call, Layer, Layered, Next, Policy, Request, Response};
use storagebox_core::{Backend, Result, Retry, Timer, async_trait};

use crate::timer::TokioTimer;

/// The default deadline of a call: three times the timeout that a backend has for one attempt.
const DEADLINE: Duration = Duration::from_secs(30);

/// The policy of a store for which the program sets no policy.
pub(crate) fn default_policy() -> Policy {
    Policy { retry: Some(Retry::default()), deadline: Some(DEADLINE), timer: Arc::new(TokioTimer) }
}

/// Adds a layer that applies the policy to each call.
pub(crate) fn around(policy: &Policy, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
    match policy {
        Policy { retry: None, deadline: None, .. } => Arc::clone(backend),
        _ => Arc::new(Layered::new(Arc::clone(backend), Arc::new(policy.clone()))),
    }
}

/// Adds a layer that applies only the policy's deadline to each call.
pub(crate) fn bounding(policy: &Policy, backend: &Arc<dyn Backend>) -> Arc<dyn Backend> {
    around(&Policy { retry: None, ..policy.clone() }, backend)
}

/// A layer that ends an attempt to extend a lease after a third of the lease, so that another attempt can follow.
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
