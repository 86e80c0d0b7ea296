//! A queue in memory, on the clock of tokio. A test can make its calls fail or take long.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::repeat_with;
use storagebox_conformance::Cut;
use storagebox_core::{BoxError, Dispatcher, Outgoing, async_trait};
use storagebox_transports::{Delivery, Malformed, Received, Settle};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use crate::checks::{Deliveries, Queue};
use crate::leases::{Aged, LEASE};

#[derive(Clone, Default)]
pub(crate) struct MemoryQueue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
pub(crate) struct State {
    copies: VecDeque<Held>,
    next_number: u64,
    lease: Option<Duration>,
    cut: Option<Cut>,
    /// The calls on deliveries, each with the number of the copy. An extension has an entry for its begin and one for
    /// its end.
    pub(crate) calls: Vec<(u64, &'static str)>,
    /// The settlements, in the order of the calls.
    pub(crate) settled: Vec<Settle>,
    /// The number of errors that the stream returns before its first delivery.
    pub(crate) stream_errors: usize,
    pub(crate) fails_to_extend: bool,
    pub(crate) never_settles: bool,
    pub(crate) notes_nothing: bool,
    pub(crate) extending_takes: Duration,
}

#[derive(Clone)]
struct Held {
    number: u64,
    received: Result<Received, Malformed>,
    /// The time from which the copy can be handed out, or `None` while the copy is parked.
    visible: Option<Instant>,
    attempt: u32,
    /// Whether the copy was handed out and has not been settled since.
    is_out: bool,
    lone_runs: u32,
    lapsed: Option<u32>,
}

impl MemoryQueue {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    pub(crate) fn with_lease(self, lease: Duration) -> Self {
        self.state().lease = Some(lease);
        self
    }

    pub(crate) fn put(&self, received: Result<Received, Malformed>) {
        let mut state = self.state();
        state.next_number += 1;
        let (number, visible) = (state.next_number, Some(Instant::now()));
        let copy = Held { number, received, visible, attempt: 0, is_out: false, lone_runs: 0, lapsed: None };
        state.copies.push_back(copy);
        self.0.changed.notify_waiters();
    }

    async fn next(&self) -> Result<Copy, BoxError> {
        self.state().fail()?;
        loop {
            let changed = self.0.changed.notified();
            let soonest = match self.state().take() {
                Ok(held) => return Ok(Copy { held, queue: self.clone() }),
                Err(soonest) => soonest,
            };
            match soonest {
                Some(soonest) => tokio::select! { () = changed => {}, () = sleep_until(soonest) => {} },
                None => changed.await,
            }
        }
    }
}

impl State {
    fn fail(&mut self) -> Result<(), BoxError> {
        let Some(left) = self.stream_errors.checked_sub(1) else { return Ok(()) };
        self.stream_errors = left;
        Err("the queue is down".into())
    }

    /// Hands out the copy that has been available for longest. Without such a copy, returns when the next copy becomes
    /// available.
    fn take(&mut self) -> Result<Held, Option<Instant>> {
        let (now, lease) = (Instant::now(), self.lease.unwrap_or(LEASE));
        let soonest = self.copies.iter_mut().filter(|held| held.visible.is_some()).min_by_key(|held| held.visible);
        let Some(held) = soonest else { return Err(None) };
        if held.visible > Some(now) {
            return Err(held.visible);
        }
        (held.visible, held.attempt) = (Some(now + lease), held.attempt + 1);
        (held.lapsed, held.is_out) = (held.is_out.then_some(held.lone_runs), true);
        Ok(held.clone())
    }

    /// Returns the index of the copy with this receipt, or `None` if the receipt is no longer valid.
    fn place(&self, receipt: &Held) -> Option<usize> {
        let is_it = |held: &Held| held.number == receipt.number && held.attempt == receipt.attempt;
        self.copies.iter().position(is_it).filter(|at| self.copies[*at].visible > Some(Instant::now()))
    }
}

pub(crate) struct Copy {
    held: Held,
    queue: MemoryQueue,
}

impl Copy {
    fn settle_now(&self, settle: Settle) -> Result<(), BoxError> {
        let mut state = self.queue.state();
        state.settled.push(settle);
        let cut = if settle == Settle::Ack { state.cut.take() } else { None };
        if cut == Some(Cut::RequestLost) {
            return Err("the connection was cut".into());
        }
        let at = state.place(&self.held).ok_or("it is somebody else's by now")?;
        (state.copies[at].is_out, state.copies[at].lone_runs) = (false, 0);
        match settle {
            Settle::Ack => drop(state.copies.remove(at)),
            // A copy that is available has no valid receipt.
            Settle::Retry { after } => state.copies[at].visible = Some(Instant::now() + after),
            Settle::Park => state.copies[at].visible = None,
        }
        self.queue.0.changed.notify_waiters();
        cut.map_or(Ok(()), |_| Err("the connection was cut".into()))
    }
}

#[async_trait]
impl Delivery for Copy {
    fn received(&self) -> Result<&Received, Malformed> {
        self.held.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        self.held.attempt
    }

    fn lapsed(&self) -> Option<u32> {
        self.held.lapsed
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        let mut state = self.queue.state();
        if state.notes_nothing {
            return Err("the queue is down".into());
        }
        let at = state.place(&self.held).ok_or("it is somebody else's by now")?;
        state.copies[at].lone_runs += 1;
        Ok(())
    }

    async fn extend(&self, lease: Duration) -> Result<(), BoxError> {
        let extending_takes = {
            let mut state = self.queue.state();
            state.calls.push((self.held.number, "extend"));
            state.extending_takes
        };
        sleep(extending_takes).await;
        let mut state = self.queue.state();
        state.calls.push((self.held.number, "extended"));
        if state.fails_to_extend {
            return Err("the queue is down".into());
        }
        let at = state.place(&self.held).ok_or("it is somebody else's by now")?;
        let until = Instant::now() + lease;
        let visible = &mut state.copies[at].visible;
        *visible = (*visible).max(Some(until));
        Ok(())
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        let never_settles = {
            let mut state = self.queue.state();
            state.calls.push((self.held.number, "settle"));
            state.never_settles
        };
        if never_settles {
            std::future::pending::<()>().await;
        }
        self.settle_now(settle)
    }
}

pub(crate) struct Sender(MemoryQueue);

#[async_trait]
impl Dispatcher for Sender {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        for Outgoing { id, token, destination: _, body } in messages.iter().cloned() {
            self.0.put(Ok(Received { id, token: Some(token), body }));
        }
        Ok(())
    }
}

#[async_trait]
impl Queue for MemoryQueue {
    type Delivery = Copy;

    const LEASE: Duration = LEASE;

    fn deliveries(&self) -> Deliveries<Copy> {
        let queue = self.clone();
        repeat_with(move || queue.clone()).then(|queue| async move { queue.next().await }).boxed()
    }

    fn dispatcher(&self) -> impl Dispatcher + 'static {
        Sender(self.clone())
    }

    async fn send_malformed(&self) {
        self.put(Err(Malformed("it has no id".to_owned())));
    }

    async fn lapse(&self) {
        self.age(LEASE).await;
    }

    async fn length(&self) -> usize {
        self.state().copies.iter().filter(|held| held.visible.is_some()).count()
    }

    async fn parked(&self) -> usize {
        self.state().copies.iter().filter(|held| held.visible.is_none()).count()
    }

    async fn redrive(&self) {
        for held in &mut self.state().copies {
            held.visible = held.visible.or(Some(Instant::now()));
        }
        self.0.changed.notify_waiters();
    }

    fn cut_next_ack(&self, cut: Cut) {
        self.state().cut = Some(cut);
    }

    async fn was_cut(&self) {
        assert!(self.state().cut.is_none());
    }
}

#[async_trait]
impl Aged for MemoryQueue {
    async fn age(&self, by: Duration) {
        for held in &mut self.state().copies {
            held.visible = held.visible.map(|visible| visible - by);
        }
        self.0.changed.notify_waiters();
    }
}
