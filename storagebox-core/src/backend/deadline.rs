//! Time limits of calls. One thread watches the limits of all calls, so that a call that is answered in time sets no
//! timer.

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

static WATCH: Watch = Watch::new(start);

/// Returns the output of `work`, or `None` once `limit` has passed. A backend uses it to end its calls if its client
/// does not notice that the server is gone.
///
/// `None` says nothing about requests that `work` has sent: they may still be applied, so the call's outcome is
/// unknown. If the thread that watches the limits cannot be started, the task is polled repeatedly until the limit.
///
/// The limit is real time, even in a test that pauses its runtime's clock: a paused clock jumps to the next timer while
/// a server's answer is on its way, and would end the call at once.
///
/// # Cancel safety
///
/// As safe as `work`, which is dropped with this future.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use std::future::{pending, ready};
/// use std::time::Duration;
/// use storagebox_core::backend::in_time;
///
/// assert_eq!(in_time(Duration::from_secs(5), ready(1)).await, Some(1));
/// assert_eq!(in_time(Duration::from_millis(1), pending::<()>()).await, None);
/// # }
/// ```
pub fn in_time<F: Future + Unpin>(limit: Duration, work: F) -> impl Future<Output = Option<F::Output>> {
    InTime { watch: &WATCH, work, deadline: now().checked_add(limit), entry: None }
}

#[derive(Debug)]
struct InTime<F> {
    watch: &'static Watch,
    work: F,
    /// The time at which the wait ends, or `None` if the clock cannot represent a time that late.
    deadline: Option<Instant>,
    entry: Option<Entry>,
}

impl<F: Future + Unpin> Future for InTime<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = Pin::new(&mut self.work).poll(cx) {
            return Poll::Ready(Some(output));
        }
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Poll::Ready(None);
        }
        self.enter(deadline, left < EARLY, cx.waker());
        Poll::Pending
    }
}

/// The largest assumed difference between the clocks of two cores.
const EARLY: Duration = Duration::from_millis(1);

impl<F> InTime<F> {
    fn enter(&mut self, deadline: Instant, is_near: bool, waker: &Waker) {
        // A task that is polled just before its deadline may have been woken too early, so it is registered again.
        if is_near || !self.entry.as_ref().is_some_and(|entry| entry.keeps(waker)) {
            let entry = Entry::new(self.watch, deadline, waker);
            if !entry.is_watched {
                // No thread will wake the task, so the task wakes itself until a thread runs.
                waker.wake_by_ref();
            }
            self.entry = Some(entry);
        }
    }
}

/// The deadline of a call, and a number that is unique among all calls.
type Key = (Instant, u64);

/// A registered call, whose task the thread of the `Watch` wakes at the deadline.
#[derive(Debug)]
struct Entry {
    watch: &'static Watch,
    key: Key,
    waker: Waker,
    /// Whether a thread will wake the task.
    is_watched: bool,
}

impl Entry {
    fn new(watch: &'static Watch, deadline: Instant, waker: &Waker) -> Self {
        let (key, is_watched) = watch.enter(deadline, waker.clone());
        Self { watch, key, waker: waker.clone(), is_watched }
    }

    /// Returns whether a thread will wake the task of `waker` at the deadline.
    fn keeps(&self, waker: &Waker) -> bool {
        self.is_watched && self.waker.will_wake(waker)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // The waker is dropped after the lock is released: it may be the last reference to a task that owns entries,
        // whose `drop` takes the lock too.
        let _waker = self.watch.waiting().calls.remove(&self.key);
    }
}

#[derive(Debug)]
struct Watch {
    waiting: Mutex<Waiting>,
    sooner: Condvar,
    /// Starts the thread that wakes the tasks. Returns false if the thread cannot be started.
    start: fn(&'static Self) -> bool,
}

#[derive(Debug)]
struct Waiting {
    calls: BTreeMap<Key, Waker>,
    entered: u64,
    /// When the thread next checks the deadlines, or `None` if the thread does not run.
    look: Option<Instant>,
}

impl Watch {
    const fn new(start: fn(&'static Self) -> bool) -> Self {
        let waiting = Waiting { calls: BTreeMap::new(), entered: 0, look: None };
        Self { waiting: Mutex::new(waiting), sooner: Condvar::new(), start }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call. Returns the call's key, and whether the thread runs.
    fn enter(&'static self, deadline: Instant, waker: Waker) -> (Key, bool) {
        let mut waiting = self.waiting();
        waiting.entered += 1;
        let key = (deadline, waiting.entered);
        waiting.calls.insert(key, waker);
        match waiting.look {
            Some(look) if look <= deadline => {}
            Some(_) => {
                waiting.look = Some(deadline);
                self.sooner.notify_one();
            }
            None => waiting.look = (self.start)(self).then_some(deadline),
        }
        (key, waiting.look.is_some())
    }

    /// Wakes the tasks of calls at their deadlines. Returns when no call is registered.
    fn run(&self) {
        let mut waiting = self.waiting();
        // The thread waits until `look` even if the call with that deadline has ended: the next call usually has the
        // same limit.
        while let Some(look) = waiting.look {
            let left = look.saturating_duration_since(now());
            if !left.is_zero() {
                waiting = self.sooner.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let over = waiting.over();
            if over.is_empty() {
                waiting.look = waiting.next();
            } else {
                // `look` stays set, so that `enter` starts no second thread in the meantime.
                drop(waiting);
                over.into_values().for_each(wake);
                waiting = self.waiting();
            }
        }
    }
}

fn start(watch: &'static Watch) -> bool {
    thread::Builder::new().name("storagebox-time".to_owned()).spawn(|| watch.run()).is_ok()
}

impl Waiting {
    /// Removes and returns the calls whose deadlines have passed.
    fn over(&mut self) -> BTreeMap<Key, Waker> {
        let later = self.calls.split_off(&(now(), 0));
        mem::replace(&mut self.calls, later)
    }

    fn next(&self) -> Option<Instant> {
        self.calls.keys().next().map(|(deadline, _)| *deadline)
    }
}

/// Wakes a task, and ignores a panic of its waker.
fn wake(waker: Waker) {
    // All runtimes share the thread, so neither a panic of one runtime nor a panic in the `drop` of its payload may end
    // it.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        mem::forget(panic);
    }
}

#[allow(clippy::disallowed_methods, reason = "how long a call is waited for; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::panic::panic_any;
    use std::sync::mpsc::{self, Sender};
    use std::sync::{Arc, OnceLock};
    use std::task::Wake;

    use super::*;

    const SHORT: Duration = Duration::from_millis(5);
    const LONG: Duration = Duration::from_secs(3600);

    /// A waker that reports each wake on the channel.
    struct Told(Sender<()>);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }

    /// A waker that panics with a payload that panics again when it is dropped.
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic_any(Self);
        }
    }

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("once more");
        }
    }

    /// A waker that owns an entry, like the waker of a task that makes a call.
    struct Nested(OnceLock<Entry>);

    impl Wake for Nested {
        fn wake(self: Arc<Self>) {}
    }

    fn a_watch() -> &'static Watch {
        Box::leak(Box::new(Watch::new(start)))
    }

    fn enter(watch: &'static Watch, limit: Duration, waker: &Waker) -> Entry {
        Entry::new(watch, now() + limit, waker)
    }

    #[tokio::test(start_paused = true)]
    async fn call_returns_its_output_or_none_after_the_time_limit() {
        assert_eq!(in_time(LONG, ready(7)).await, Some(7));
        assert_eq!(in_time(SHORT, pending::<()>()).await, None);
        assert_eq!(in_time(Duration::ZERO, pending::<()>()).await, None);
        assert_eq!(in_time(Duration::MAX, ready(7)).await, Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn call_does_not_time_out_while_its_runtime_has_a_paused_clock() {
        let (sender, answer) = tokio::sync::oneshot::channel();
        let server = thread::spawn(move || {
            thread::park_timeout(SHORT);
            sender.send(7).unwrap();
        });
        assert_eq!(in_time(LONG, answer).await, Some(Ok(7)));
        server.join().unwrap();
    }

    #[test]
    fn task_with_the_earlier_deadline_is_woken_despite_a_panic() {
        let (watch, (sender, told)) = (a_watch(), mpsc::channel());
        let waker = Arc::new(Told(sender)).into();
        let _long = enter(watch, LONG, &waker);
        let panics = Arc::new(Panics).into();
        mem::forget(enter(watch, SHORT, &panics));
        mem::forget(panics);
        let _short = enter(watch, 2 * SHORT, &waker);
        told.recv().unwrap();
        assert_eq!(watch.waiting().calls.len(), 1);
    }

    #[test]
    fn thread_ends_after_the_last_call_and_starts_with_the_next() {
        let (watch, (sender, told)) = (a_watch(), mpsc::channel());
        let waker = Arc::new(Told(sender)).into();
        drop(enter(watch, SHORT, &waker));
        assert!(watch.waiting().calls.is_empty());
        while watch.waiting().look.is_some() {
            thread::yield_now();
        }
        assert!(told.try_recv().is_err());
        let _again = enter(watch, SHORT, &waker);
        told.recv().unwrap();
    }

    #[test]
    fn dropping_an_entry_drops_the_entry_that_its_waker_owns() {
        let (watch, nested) = (a_watch(), Arc::new(Nested(OnceLock::new())));
        nested.0.set(enter(watch, LONG, Waker::noop())).unwrap();
        let entry = enter(watch, LONG, &Arc::clone(&nested).into());
        drop(nested);
        drop(entry);
        assert!(watch.waiting().calls.is_empty());
    }

    /// No thread can be started, so the task wakes itself until the deadline.
    #[tokio::test]
    async fn a_call_ends_at_its_deadline_without_a_thread() {
        let watch: &'static Watch = Box::leak(Box::new(Watch::new(|_| false)));
        let call = InTime { watch, work: pending::<()>(), deadline: now().checked_add(SHORT), entry: None };
        assert_eq!(call.await, None);
        assert!(watch.waiting().calls.is_empty() && watch.waiting().entered > 1);
    }

    /// One task makes the first poll of the call, and another task makes the later polls.
    #[tokio::test]
    async fn the_task_that_polled_last_is_woken() {
        let mut call = in_time(SHORT, pending::<()>());
        assert!(Pin::new(&mut call).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(poll_fn(|cx| Pin::new(&mut call).poll(cx)).await, None);
    }
}
