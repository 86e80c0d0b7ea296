//! How calls within a transaction give way to others.

use storagebox_core::layer::{Call, Layer, Next, Response};
use storagebox_core::{Result, async_trait};

use super::open::Open;

/// Lets each call of a transaction wait until no other transaction has what it changes.
#[derive(Debug)]
pub(crate) struct Waits(pub(crate) Open);

#[async_trait]
impl Layer for Waits {
    async fn call(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        // As on a server: a caller that makes two calls at once, or drops one, shall notice it in its tests (J-2).
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
