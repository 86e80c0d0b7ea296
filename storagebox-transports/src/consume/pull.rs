//! Reads deliveries one by one, with a pause after an error.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use storagebox_core::BoxError;
use tokio::time::Sleep;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// A stream of deliveries, with a pause after each error.
pub(super) struct Pull<S> {
    stream: Option<Pin<Box<S>>>,
    next_pause: Duration,
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S, D> Pull<S>
where
    S: Stream<Item = Result<D, BoxError>> + Send,
{
    pub(super) fn new(stream: S) -> Self {
        Self { stream: Some(Box::pin(stream)), next_pause: FIRST_PAUSE, pause: None }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stream.is_none()
    }

    /// Drops the stream and with it the read in progress.
    pub(super) fn end(&mut self) {
        self.stream = None;
    }

    pub(super) fn end_if(&mut self, is_over: bool) {
        if is_over {
            self.end();
        }
    }

    /// Returns the next item of the stream. The future may be dropped at any point without losing an item.
    pub(super) async fn next(&mut self) -> Option<Result<D, BoxError>> {
        if let Some(pause) = &mut self.pause {
            pause.await;
        }
        self.pause = None;
        let item = self.stream.as_mut()?.next().await;
        match &item {
            Some(Ok(_)) => self.next_pause = FIRST_PAUSE,
            Some(Err(_)) => self.begin_pause(),
            None => self.end(),
        }
        item
    }

    #[allow(clippy::disallowed_methods, reason = "a pause between two attempts; no promise depends on it")]
    fn begin_pause(&mut self) {
        self.pause = Some(Box::pin(tokio::time::sleep(self.next_pause)));
        self.next_pause = (self.next_pause * 2).min(MAX_PAUSE);
    }
}
