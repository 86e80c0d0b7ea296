//! A combiner whose batches wait until the test decides their fate, and whose stall timeout passes when the test says
//! so.

use std::pin::Pin;
use std::sync::Arc;

use storagebox_core::{Combine, Combined, Combiner, Result, RunBatch, Spawn};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{JoinHandle, yield_now};

/// A call with its key and a number, which the answer repeats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call(pub(crate) &'static str, pub(crate) u32);

impl Combine for Call {
    type Key = &'static str;
    type Answer = Told;

    const BACKEND: &'static str = "bench";
    const OPERATION: &'static str = "ask";

    fn key(&self) -> &'static str {
        self.0
    }
}

/// The answer to a call, which says whether the call was made alone or in a batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Alone { number: u32, lost: bool },
    Together(u32),
}

pub(crate) fn alone(number: u32, lost: bool) -> Told {
    Told::Alone { number, lost }
}

/// The test's choice of what the next batch does.
pub(crate) enum Fate {
    Answered,
    /// The batch returns these answers, one per call.
    Combined(Vec<Combined<Told>>),
    Panic,
}

pub(crate) type Answers = Vec<Combined<Result<Told>>>;

pub(crate) fn meet(calls: &[Call], fate: Fate) -> Answers {
    let answers = match fate {
        Fate::Answered => calls.iter().map(|call| Combined::Answer(Told::Together(call.1))).collect(),
        Fate::Combined(answers) => answers,
        Fate::Panic => panic!("a batch that panics"),
    };
    answers.into_iter().map(answered).collect()
}

fn answered(answer: Combined<Told>) -> Combined<Result<Told>> {
    match answer {
        Combined::Answer(told) => Combined::Answer(Ok(told)),
        Combined::RunAlone => Combined::RunAlone,
        Combined::Lost => Combined::Lost,
    }
}

pub(crate) fn spawn(work: Pin<Box<dyn Future<Output = ()> + Send>>) {
    drop(tokio::spawn(work));
}

/// Returns a function that starts each task in the runtime of the caller.
fn spawner() -> Arc<Spawn> {
    let runtime = Handle::current();
    Arc::new(move |work| drop(runtime.spawn(work)))
}

/// Yields 20 times, so that in a runtime with one thread all other tasks run until they wait.
pub(crate) async fn all_go_on() {
    for _ in 0..20 {
        yield_now().await;
    }
}

/// The batches that have begun, each with a channel on which the test sends the batch its [`Fate`].
type Batches = mpsc::UnboundedReceiver<(Vec<Call>, oneshot::Sender<Fate>)>;

fn told_their_fate() -> (Box<RunBatch<Call>>, Batches) {
    let (begun, batches) = mpsc::unbounded_channel();
    let together = move |calls: Vec<Call>| {
        let (fate, told) = oneshot::channel();
        begun.send((calls.clone(), fate)).unwrap();
        Box::pin(async move { meet(&calls, told.await.unwrap()) }) as _
    };
    (Box::new(together), batches)
}

pub(crate) struct Bench {
    pub(crate) combiner: Arc<Combiner<Call>>,
    pub(crate) batches: Batches,
    patience: Arc<Notify>,
}

impl Bench {
    pub(crate) fn new(most: usize) -> Self {
        let (together, batches) = told_their_fate();
        let patience = Arc::new(Notify::new());
        let ends = Arc::clone(&patience);
        let patient = move || {
            let ends = Arc::clone(&ends);
            Box::pin(async move { ends.notified().await }) as _
        };
        let combiner = Combiner::new(most, together, Box::new(spawn), Some(Box::new(patient)));
        Self { combiner, batches, patience }
    }

    /// Creates a bench whose combiner runs each batch in a separate task and has no stall timeout.
    pub(crate) fn of_tasks(most: usize) -> Self {
        let (together, batches) = told_their_fate();
        let combiner = Combiner::of_tasks(most, together, Box::new(spawner));
        Self { combiner, batches, patience: Arc::default() }
    }

    pub(crate) fn of(combiner: Arc<Combiner<Call>>) -> Self {
        Self { combiner, batches: mpsc::unbounded_channel().1, patience: Arc::default() }
    }

    /// Lets the stall timeout of the current turn pass.
    pub(crate) async fn lose_patience(&self) {
        self.patience.notify_one();
        all_go_on().await;
    }

    /// Starts a call that is made alone and stays in progress until the gate opens.
    pub(crate) async fn leader(&self, gate: &Arc<Notify>) -> JoinHandle<Told> {
        self.leader_of(Call("leader", 0), gate).await
    }

    pub(crate) async fn leader_of(&self, call: Call, gate: &Arc<Notify>) -> JoinHandle<Told> {
        let (combiner, gate) = (Arc::clone(&self.combiner), Arc::clone(gate));
        let (begun, has_begun) = oneshot::channel();
        let leader = tokio::spawn(async move {
            let number = call.1;
            let alone = |lost| async move {
                begun.send(()).unwrap();
                gate.notified().await;
                Ok(alone(number, lost))
            };
            combiner.call(call, alone).await.unwrap()
        });
        has_begun.await.unwrap();
        leader
    }

    /// Starts a call in a task. Returns after the first poll of the call.
    pub(crate) async fn asker(&self, call: Call) -> JoinHandle<Result<Told>> {
        let combiner = Arc::clone(&self.combiner);
        let asker = tokio::spawn(async move {
            let number = call.1;
            combiner.call(call, |lost| async move { Ok(alone(number, lost)) }).await
        });
        yield_now().await;
        asker
    }

    /// Starts a call in a task, and panics if the queue refuses the call.
    pub(crate) async fn follower(&self, call: Call) -> JoinHandle<Told> {
        let combiner = Arc::clone(&self.combiner);
        let follower = tokio::spawn(async move {
            let number = call.1;
            combiner.call(call, |lost| async move { Ok(alone(number, lost)) }).await.unwrap()
        });
        yield_now().await;
        follower
    }

    pub(crate) async fn followers(&self, calls: &[Call]) -> Vec<JoinHandle<Told>> {
        let mut followers = vec![];
        for call in calls {
            followers.push(self.follower(call.clone()).await);
        }
        followers
    }

    /// Waits for the next batch and decides what it does. Returns the calls of the batch.
    pub(crate) async fn batch(&mut self, fate: Fate) -> Vec<Call> {
        let (calls, told) = self.batches.recv().await.unwrap();
        assert!(told.send(fate).is_ok());
        calls
    }
}

pub(crate) async fn told(followers: Vec<JoinHandle<Told>>) -> Vec<Told> {
    let mut answers = vec![];
    for follower in followers {
        answers.push(follower.await.unwrap());
    }
    answers
}
