//! A stream of deliveries that reads one after another.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use futures_util::stream::unfold;
use storagebox_core::{BoxError, Result};
use tokio::sync::oneshot;
use tracing::debug;

use crate::delivery::{Delivery, Settle};

/// Reads from a queue.
#[async_trait]
pub(crate) trait Read: Send + 'static {
    type Delivery: Delivery;

    /// Returns the next delivery, or nothing if none came within a short time.
    async fn read(&mut self) -> Result<Option<Self::Delivery>>;
}

/// Reads one delivery at a time, so that none waits where nobody extends its lease.
pub(crate) fn deliveries<R: Read>(reader: R) -> impl Stream<Item = Result<R::Delivery, BoxError>> + Send + 'static {
    unfold(reader, |mut reader| async move {
        loop {
            let (item, back) = read(reader).await?;
            reader = back;
            if let Some(item) = item.transpose() {
                return Some((item.map_err(BoxError::from), reader));
            }
        }
    })
}

type Item<R> = (Result<Option<<R as Read>::Delivery>>, R);

/// Reads in a task of its own. If the stream is dropped meanwhile, what the read brings is given back, where it would
/// otherwise be nobody's until its lease ends. Returns nothing if the runtime ends.
async fn read<R: Read>(mut reader: R) -> Option<Item<R>> {
    let (to, from) = oneshot::channel();
    tokio::spawn(async move {
        let item = reader.read().await;
        if let Err((Ok(Some(delivery)), _)) = to.send((item, reader)) {
            give_back(&delivery).await;
        }
    });
    from.await.ok()
}

async fn give_back(delivery: &impl Delivery) {
    if let Err(error) = delivery.settle(Settle::Retry { after: Duration::ZERO }).await {
        debug!(%error, "a delivery that nobody asks for any more was not given back; it comes when its lease ends");
    }
}
