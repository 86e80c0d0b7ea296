//! Calls within a transaction wait for other transactions.

use storagebox_core::layer::{Call, Layer, Next, Response};
use storagebox_core::{Result, async_trait};

use super::open::Open;

/// A layer that waits until the transaction that refused a call has ended, and then repeats the call.
#[derive(Debug)]
pub(crate) struct Waits(pub(crate) Open);

#[async_trait]
impl Layer for Waits {
    async fn call(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        // Each call yields once, as on a server, so that tests of a caller notice two calls at once or a dropped call
        // (J-2).
        tokio::task::yield_now().await;
        loop {
            let answer = next.run().await;
            // A call that was refused has changed nothing.
            match self.0.refused_by().filter(|_| answer.is_err()) {
                Some(other) => self.0.wait_for(&other).await?,
                None => return answer,
            }
        }
    }
}
