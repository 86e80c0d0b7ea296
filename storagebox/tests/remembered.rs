//! A store does not retry a change of a counter once its operation may be forgotten: the caller decides.
#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox::counters::Bounds;
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::time::{Timer, TokioTimer};
use storagebox::{Error, ErrorKind, MemoryStore, Result, Retention, Retry, Store, Strategy, async_trait};

const REMEMBERED: Duration = Duration::from_secs(20);

/// The error of `add`: its kind, and whether it is retryable.
type Failed = Option<(ErrorKind, bool)>;

const UNREPEATABLE: Failed = Some((ErrorKind::OutcomeUnknown, false));

/// Loses the reply to the first change after a delay, and delays the second request.
#[derive(Debug, Default)]
struct Loses {
    /// The time until the caller learns that the first reply is lost.
    reply: Duration,
    /// The time that the second request takes to arrive.
    second: Duration,
    made: AtomicUsize,
}

impl Loses {
    async fn hold(&self, number: usize) {
        match number {
            0 => TokioTimer.sleep(self.reply).await,
            1 => TokioTimer.sleep(self.second).await,
            _ => {}
        }
    }
}

#[async_trait]
impl Layer for Loses {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() != "apply" {
            return next.run().await;
        }
        match self.made.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let _lost = next.run().await?;
                self.hold(0).await;
                Err(Error::unknown("the reply was lost, as the test asked"))
            }
            number => {
                self.hold(number).await;
                next.run().await
            }
        }
    }
}

/// Makes a change whose first reply is lost. Returns the error of the change and the value of the counter.
async fn add(loses: Loses, retry: Retry, strategy: Strategy) -> Result<(Failed, i64)> {
    let store = Store::new(MemoryStore::new()).layer(loses).with_retry(retry).without_deadline();
    let stock = store.counters_with("stock", strategy)?;
    let failed = stock.add("sold", 1).by("sale-1").await.err().map(|error| (error.kind(), error.is_retryable()));
    Ok((failed, stock.value("sold").await?))
}

fn marker() -> Strategy {
    Strategy::Marker { retention: Retention::For(REMEMBERED) }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_the_store_may_have_forgotten_is_not_retried() -> Result<()> {
    let retention = Retention::For(REMEMBERED);
    for strategy in [
        marker(),
        Strategy::Window { lifetime: REMEMBERED, capacity: 100 },
        Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention },
    ] {
        for (reply, expected) in [(9, None), (11, UNREPEATABLE)] {
            let loses = Loses { reply: Duration::from_secs(reply), ..Loses::default() };
            let found = add(loses, Retry::default(), strategy).await?;
            assert_eq!(found, (expected, 1), "{strategy:?}, {reply} s");
        }
    }
    Ok(())
}

/// The store still remembers the operation after a pause of 3 seconds, but not after a pause of 30 seconds.
#[tokio::test(start_paused = true)]
async fn a_change_is_not_retried_after_a_pause_beyond_its_retention() -> Result<()> {
    for (pause, expected) in [(3, None), (30, UNREPEATABLE)] {
        let pause = Duration::from_secs(pause);
        let retry = Retry { attempts: 6, first_delay: pause, max_delay: pause };
        assert_eq!(add(Loses::default(), retry, marker()).await?, (expected, 1), "{pause:?}");
    }
    Ok(())
}

/// The second request waits for a connection until the store has forgotten the operation.
#[tokio::test(start_paused = true)]
async fn a_retry_of_a_forgotten_operation_is_not_applied() -> Result<()> {
    for (second, expected) in [(15, None), (25, UNREPEATABLE)] {
        let loses = Loses { second: Duration::from_secs(second), ..Loses::default() };
        assert_eq!(add(loses, Retry::default(), marker()).await?, (expected, 1), "{second} s");
    }
    Ok(())
}
