//! A stream that reads one delivery after another.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use futures_util::stream::unfold;
use storagebox_core::{BoxError, Result};
use tokio::sync::oneshot;
use tracing::debug;

use crate::delivery::{Delivery, Settle};

#[async_trait]
pub(crate) trait Read: Send + 'static {
    type Delivery: Delivery;

    /// Returns the next delivery, or `None` if no delivery arrives within a short time.
    async fn read(&mut self) -> Result<Option<Self::Delivery>>;
}

/// Returns a stream that reads one delivery at a time.
pub(crate) fn deliveries<R: Read>(reader: R) -> impl Stream<Item = Result<R::Delivery, BoxError>> + Send + 'static {
    // A delivery that was read in advance would wait without extensions of its lease.
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

/// Reads in a separate task. The task gives the delivery back if the stream is dropped before the read ends. Returns
/// `None` if the runtime ends.
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
        debug!(%error, "a fetched delivery could not be given back; it comes again when its lease ends");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::{FutureExt, StreamExt};
    use tokio::sync::Notify;

    use super::*;
    use crate::delivery::{Malformed, Received};

    /// A queue with one message, which arrives when the test calls `comes.notify_one()`.
    #[derive(Clone, Default)]
    struct Slow {
        begun: Arc<Notify>,
        comes: Arc<Notify>,
        settled: Arc<Mutex<Vec<Settle>>>,
        is_settled: Arc<Notify>,
    }

    #[async_trait]
    impl Read for Slow {
        type Delivery = Self;

        async fn read(&mut self) -> Result<Option<Self>> {
            self.begun.notify_one();
            self.comes.notified().await;
            Ok(Some(self.clone()))
        }
    }

    #[async_trait]
    impl Delivery for Slow {
        fn received(&self) -> std::result::Result<&Received, Malformed> {
            Err(Malformed(String::new()))
        }

        fn attempt(&self) -> u32 {
            1
        }

        async fn extend(&self, _: Duration) -> std::result::Result<(), BoxError> {
            Ok(())
        }

        async fn settle(&self, settle: Settle) -> std::result::Result<(), BoxError> {
            self.settled.lock().unwrap().push(settle);
            self.is_settled.notify_one();
            Ok(())
        }
    }

    #[tokio::test]
    async fn dropped_stream_gives_back_the_delivery_that_it_reads() {
        let slow = Slow::default();
        let mut stream = Box::pin(deliveries(slow.clone()));
        assert!(stream.next().now_or_never().is_none());
        slow.begun.notified().await;
        drop(stream);
        slow.comes.notify_one();
        slow.is_settled.notified().await;
        assert_eq!(*slow.settled.lock().unwrap(), [Settle::Retry { after: Duration::ZERO }]);
    }

    #[tokio::test]
    async fn dropping_the_future_of_next_loses_no_delivery() {
        let slow = Slow::default();
        let mut stream = Box::pin(deliveries(slow.clone()));
        assert!(stream.next().now_or_never().is_none());
        slow.comes.notify_one();
        assert!(stream.next().await.unwrap().is_ok());
        assert!(slow.settled.lock().unwrap().is_empty());
    }
}
