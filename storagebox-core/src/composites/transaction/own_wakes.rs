//! A future that wakes itself is polled again at once, and the runtime is not asked.
//!
//! A call in a transaction and its connection are two parts of one future, and each answer wakes the other part. A
//! runtime of several threads would wake a thread for that.

use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

/// The most polls in a row. A future that wakes itself more often may be asked by the runtime to let others on.
const MOST_POLLS: usize = 8;

/// Runs the future.
pub(super) async fn polled_again<F: Future>(future: F) -> F::Output {
    let wakes = Arc::new(OwnWakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut future = pin!(future);
    poll_fn(|context| {
        wakes.begin(context.waker());
        let mut polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        for _ in 1..MOST_POLLS {
            if polled.is_ready() || !wakes.came() {
                break;
            }
            polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        }
        wakes.end();
        polled
    })
    .await
}

#[derive(Default)]
struct OwnWakes(Mutex<State>);

#[derive(Default)]
struct State {
    task: Option<Waker>,
    is_polled: bool,
    /// Whether a wake came since the last poll began.
    came: bool,
}

impl OwnWakes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, task: &Waker) {
        let mut state = self.state();
        if !state.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            state.task = Some(task.clone());
        }
        (state.is_polled, state.came) = (true, false);
    }

    fn came(&self) -> bool {
        mem::take(&mut self.state().came)
    }

    /// Passes on a wake that came during the last poll.
    fn end(&self) {
        let mut state = self.state();
        state.is_polled = false;
        let came = mem::take(&mut state.came);
        wake(state, came);
    }
}

impl Wake for OwnWakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state();
        state.came = state.is_polled;
        let is_idle = !state.is_polled;
        wake(state, is_idle);
    }
}

/// Wakes the task without the lock, which it may need at once.
fn wake(state: MutexGuard<'_, State>, really: bool) {
    let task = if really { state.task.clone() } else { None };
    drop(state);
    if let Some(task) = task {
        task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Task {
        /// Polls the future once, and returns whether it is ready.
        fn poll(self: &Arc<Self>, future: std::pin::Pin<&mut impl Future>) -> bool {
            future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_ready()
        }

        fn woken(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Wakes itself this often, and then ends.
    async fn wakes_itself(mut times: usize) {
        poll_fn(|context| {
            if times == 0 {
                return Poll::Ready(());
            }
            times -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    #[test]
    fn a_wake_during_a_poll_is_answered_by_another_poll() {
        let task = Arc::new(Task::default());
        let mut future = pin!(polled_again(wakes_itself(MOST_POLLS - 1)));
        assert!(task.poll(future.as_mut()));
        assert_eq!(task.woken(), 0);
    }

    #[test]
    fn a_future_that_never_stops_to_wake_itself_lets_others_on() {
        let task = Arc::new(Task::default());
        let mut future = pin!(polled_again(wakes_itself(MOST_POLLS)));
        assert!(!task.poll(future.as_mut()));
        assert_eq!(task.woken(), 1);
        assert!(task.poll(future.as_mut()));
    }

    #[test]
    fn a_wake_between_polls_wakes_the_task_and_the_last_one_that_polled() {
        let tasks = [Arc::new(Task::default()), Arc::new(Task::default())];
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut future = pin!(polled_again(receiver));
        assert!(!tasks[0].poll(future.as_mut()));
        assert!(!tasks[1].poll(future.as_mut()));
        sender.send(()).unwrap();
        assert_eq!([tasks[0].woken(), tasks[1].woken()], [0, 1]);
        assert!(tasks[1].poll(future.as_mut()));
    }
}
