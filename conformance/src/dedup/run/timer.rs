//! The timer by which `run` waits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Timer, async_trait};
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use crate::harness::TestClock;
use crate::world::World;

/// A timer that follows the store's clock, even if the suite moves the clock.
///
/// Time moves only while every participant sleeps.
pub(super) struct StoreTimer {
    clock: Option<Arc<dyn TestClock>>,
    start: Instant,
    hands: watch::Sender<Hands>,
    /// Locked while a caller moves the time.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Hands {
    now: Duration,
    /// The time at which each sleeper wakes.
    wakes: Vec<Duration>,
}

impl Hands {
    fn all_asleep(&self, count: usize) -> bool {
        self.wakes.len() >= count && self.wakes.iter().all(|wake| *wake > self.now)
    }
}

impl StoreTimer {
    #[allow(clippy::disallowed_methods, reason = "a store on a real clock needs a timer on a real clock")]
    pub(super) fn of(world: &World) -> Arc<Self> {
        let clock = world.sandbox().clock();
        Arc::new(Self { clock, start: Instant::now(), hands: watch::Sender::default(), turn: Mutex::default() })
    }

    /// Waits until this many participants sleep, moves the time, and waits until they sleep again.
    #[allow(clippy::disallowed_methods, reason = "a store on a real clock expires things in real time alone")]
    pub(super) async fn pass(&self, duration: Duration, sleepers: usize) {
        let Some(clock) = &self.clock else {
            return tokio::time::sleep(duration).await;
        };
        // Two concurrent callers would move the time too far.
        let _turn = self.turn.lock().await;
        self.wait_until(|hands| hands.all_asleep(sleepers)).await;
        clock.advance(duration);
        self.hands.send_modify(|hands| hands.now += duration);
        // A participant that wakes acts before time moves again. So no run is late with a heartbeat, even if its thread
        // is scheduled late.
        self.wait_until(|hands| hands.all_asleep(sleepers)).await;
    }

    /// Counts a participant as asleep forever, because its run has ended.
    pub(super) fn leave(&self) {
        self.hands.send_modify(|hands| hands.wakes.push(Duration::MAX));
    }

    /// Moves the time in steps until the future is done. Each step begins only when this many participants sleep.
    pub(super) async fn pass_while<T>(&self, step: Duration, sleepers: usize, waiting: impl Future<Output = T>) -> T {
        tokio::pin!(waiting);
        loop {
            tokio::select! {
                biased;
                output = &mut waiting => return output,
                () = self.pass(step, sleepers) => {}
            }
        }
    }

    async fn wait_until(&self, ready: impl FnMut(&Hands) -> bool) {
        // This value holds the sender, so the channel is never closed.
        let _ = self.hands.subscribe().wait_for(ready).await;
    }
}

/// A sleeping participant, and the time at which the participant wakes. Dropping this value removes the participant
/// from the sleepers.
struct Sleeper<'a>(&'a watch::Sender<Hands>, Duration);

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|hands| {
            if let Some(place) = hands.wakes.iter().position(|wake| *wake == self.1) {
                hands.wakes.swap_remove(place);
            }
        });
    }
}

#[async_trait]
impl Timer for StoreTimer {
    fn now(&self) -> Duration {
        if self.clock.is_some() { self.hands.borrow().now } else { self.start.elapsed() }
    }

    #[allow(clippy::disallowed_methods, reason = "a store on a real clock needs a timer on a real clock")]
    async fn sleep(&self, duration: Duration) {
        if self.clock.is_none() {
            return tokio::time::sleep(duration).await;
        }
        let mut wake = Duration::ZERO;
        self.hands.send_modify(|hands| {
            wake = hands.now + duration;
            hands.wakes.push(wake);
        });
        let _sleeper = Sleeper(&self.hands, wake);
        self.wait_until(|hands| hands.now >= wake).await;
    }
}

impl fmt::Debug for StoreTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreTimer").field("hands", &*self.hands.borrow()).finish_non_exhaustive()
    }
}
