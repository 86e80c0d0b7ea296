//! Polls a call and the connection that serves it in turns, within one task.
//!
//! Each answer wakes the call. A runtime of several threads would wake another thread for that. This code polls the
//! call again at once instead.

use std::convert::Infallible;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The maximum number of polls of the call within one poll of the task.
const MOST_TURNS: usize = 8;

/// Polls the call and the connection that serves the call alternately, and returns the output of the call.
pub(super) async fn served<T>(call: impl Future<Output = T>, serve: impl Future<Output = Infallible>) -> T {
    let (mut call, mut serve) = (pin!(call), pin!(serve));
    let (of_call, of_serve) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
    let (wakes_call, wakes_serve) = (Waker::from(Arc::clone(&of_call)), Waker::from(Arc::clone(&of_serve)));
    poll_fn(|context| {
        of_call.are_of(context.waker());
        of_serve.are_of(context.waker());
        for _ in 0..MOST_TURNS {
            let poll = || call.as_mut().poll(&mut Context::from_waker(&wakes_call));
            // `serve` is polled next, whether or not the call wakes it.
            if let (Poll::Ready(answer), _) = of_serve.held(poll) {
                // The connection still has its waker. When the connection is dropped, it would wake the task for
                // nothing.
                of_serve.are_over();
                return Poll::Ready(answer);
            }
            let (Poll::Pending, is_answered) =
                of_call.held(|| serve.as_mut().poll(&mut Context::from_waker(&wakes_serve)));
            if !is_answered {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// A waker that passes each wake on to the task, unless the wakes are held back.
#[derive(Default)]
struct Wakes(Mutex<State>);

#[derive(Default)]
struct State {
    task: Option<Waker>,
    are_held: bool,
    came: bool,
}

impl Wakes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn are_of(&self, task: &Waker) {
        let mut state = self.state();
        if !state.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            state.task = Some(task.clone());
        }
    }

    fn are_over(&self) {
        self.state().task = None;
    }

    /// Runs `turn` and holds the wakes back. Returns the output of `turn`, and whether there was a wake.
    fn held<T>(&self, turn: impl FnOnce() -> T) -> (T, bool) {
        self.state().are_held = true;
        let outcome = turn();
        let mut state = self.state();
        state.are_held = false;
        (outcome, mem::take(&mut state.came))
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state();
        if state.are_held {
            state.came = true;
            return;
        }
        let task = state.task.clone();
        // Waking may poll at once, which needs the lock.
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::{mpsc, oneshot};

    use super::*;

    /// A task that counts how often it is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Task {
        /// Returns whether the future is ready after one poll.
        fn poll(self: &Arc<Self>, future: Pin<&mut impl Future>) -> bool {
            future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_ready()
        }

        fn woken(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    type Requests = mpsc::UnboundedSender<oneshot::Sender<()>>;

    async fn asks(requests: Requests, times: usize) {
        for _ in 0..times {
            let (answer, answered) = oneshot::channel();
            requests.send(answer).unwrap();
            answered.await.unwrap();
        }
    }

    async fn answers(mut requests: mpsc::UnboundedReceiver<oneshot::Sender<()>>) -> Infallible {
        while let Some(answer) = requests.recv().await {
            answer.send(()).unwrap();
        }
        std::future::pending().await
    }

    fn asked(times: usize) -> impl Future<Output = ()> {
        let (to, requests) = mpsc::unbounded_channel();
        served(asks(to, times), answers(requests))
    }

    #[test]
    fn a_call_with_immediate_answers_wakes_no_task() {
        let task = Arc::new(Task::default());
        assert!(task.poll(pin!(asked(MOST_TURNS - 1))));
        assert_eq!(task.woken(), 0);
    }

    #[test]
    fn connection_that_ends_after_its_call_wakes_no_task() {
        let task = Arc::new(Task::default());
        let (to, mut requests) = mpsc::unbounded_channel::<()>();
        let serve = async {
            let _ended = requests.recv().await;
            std::future::pending().await
        };
        let (sender, receiver) = oneshot::channel::<()>();
        let mut call = pin!(served(receiver, serve));
        assert!(!task.poll(call.as_mut()));
        sender.send(()).unwrap();
        assert!(task.poll(call.as_mut()));
        let before = task.woken();
        drop(to);
        assert_eq!(task.woken(), before);
    }

    #[test]
    fn call_with_many_requests_lets_other_tasks_run() {
        let task = Arc::new(Task::default());
        let mut call = pin!(asked(MOST_TURNS));
        assert!(!task.poll(call.as_mut()));
        assert_eq!(task.woken(), 1);
        assert!(task.poll(call));
    }

    #[test]
    fn call_that_yields_lets_other_tasks_run() {
        let task = Arc::new(Task::default());
        let yields = crate::backend::race::let_others_on();
        let mut call = pin!(served(yields, std::future::pending()));
        assert!(!task.poll(call.as_mut()));
        assert_eq!(task.woken(), 1);
        assert!(task.poll(call));
    }

    #[test]
    fn waker_called_between_polls_wakes_the_task_that_polled_last() {
        let tasks = [Arc::new(Task::default()), Arc::new(Task::default())];
        let (sender, receiver) = oneshot::channel();
        let mut call = pin!(served(receiver, std::future::pending()));
        assert!(!tasks[0].poll(call.as_mut()));
        assert!(!tasks[1].poll(call.as_mut()));
        sender.send(()).unwrap();
        assert_eq!([tasks[0].woken(), tasks[1].woken()], [0, 1]);
        assert!(tasks[1].poll(call));
    }
}
