//! A call and the connection that serves it take turns in one task, and the runtime is not asked.
//!
//! Each answer wakes the call, and a runtime of several threads would wake a thread for that. Here the call is polled
//! again at once.

use std::convert::Infallible;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The most turns of a poll. After that the runtime may let other tasks on.
const MOST_TURNS: usize = 8;

/// Makes a call while its connection is served.
pub(super) async fn served<T>(call: impl Future<Output = T>, serve: impl Future<Output = Infallible>) -> T {
    let (mut call, mut serve) = (pin!(call), pin!(serve));
    let (of_call, of_serve) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
    let (wakes_call, wakes_serve) = (Waker::from(Arc::clone(&of_call)), Waker::from(Arc::clone(&of_serve)));
    poll_fn(|context| {
        of_call.are_of(context.waker());
        of_serve.are_of(context.waker());
        for _ in 0..MOST_TURNS {
            let poll = || call.as_mut().poll(&mut Context::from_waker(&wakes_call));
            // Its turn is next, whether the call wakes it or not.
            if let (Poll::Ready(answer), _) = of_serve.held(poll) {
                // The connection still has the waker, and would wake the task for nothing when it is dropped.
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

/// The wakes of one of the two. They go to the task, unless they are held.
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

    /// Holds the wakes during the turn of the other. Returns whether one came.
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
    fn what_is_answered_at_once_wakes_nobody() {
        let task = Arc::new(Task::default());
        assert!(task.poll(pin!(asked(MOST_TURNS - 1))));
        assert_eq!(task.woken(), 0);
    }

    #[test]
    fn an_end_wakes_nobody() {
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
    fn a_call_of_many_requests_lets_others_on() {
        let task = Arc::new(Task::default());
        let mut call = pin!(asked(MOST_TURNS));
        assert!(!task.poll(call.as_mut()));
        assert_eq!(task.woken(), 1);
        assert!(task.poll(call));
    }

    #[test]
    fn a_call_that_yields_lets_others_on() {
        let task = Arc::new(Task::default());
        let yields = crate::backend::race::let_others_on();
        let mut call = pin!(served(yields, std::future::pending()));
        assert!(!task.poll(call.as_mut()));
        assert_eq!(task.woken(), 1);
        assert!(task.poll(call));
    }

    #[test]
    fn a_wake_between_polls_wakes_the_last_task_that_polled() {
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
