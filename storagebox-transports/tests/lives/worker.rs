//! A worker process, and the handle of its parent.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use storagebox_core::{Backend, BoxError, Decision, Joins, Message, Payload, Processor};
use storagebox_memory::MemoryStore;
use storagebox_transports::{ConsumeOptions, consume};
use tokio::sync::{mpsc, oneshot};

use super::{KILLER, Shared, good, killers};
use crate::checks::endpoint::entity_of;

const PLACE: [&str; 2] = ["STORAGEBOX_WORKER_SERVER", "STORAGEBOX_WORKER_QUEUE"];
const PARK_AFTER: &str = "STORAGEBOX_WORKER_PARK_AFTER";
/// The prefix of a line of the output that names a message. The test harness writes to the same output.
const BEGINS: &str = "the worker begins ";

/// How long the handler waits before it ends the worker, so that other messages can begin meanwhile.
const KILLER_TAKES: Duration = Duration::from_millis(30);
const OTHERS_TAKE: Duration = Duration::from_millis(60);

pub(crate) struct Worker {
    child: Child,
    begun: mpsc::UnboundedReceiver<String>,
}

impl Worker {
    pub(crate) fn start<Q: Shared>(place: [&str; 2], park_after: u32) -> Self {
        let mut program = Command::new(env::current_exe().unwrap());
        program.args(["--exact", "as_a_worker_process", "--ignored", "--nocapture"]);
        program.envs(PLACE.into_iter().zip(place)).env(PARK_AFTER, park_after.to_string());
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = program.spawn().unwrap();
        let (to, begun) = mpsc::unbounded_channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let id = |line: String| Some(line.split_once(BEGINS)?.1.to_owned());
        std::thread::spawn(move || lines.map_while(Result::ok).filter_map(id).try_for_each(|id| to.send(id)));
        Self { child, begun }
    }

    /// Returns the id of the next message that the worker begins, or `None` if the worker has ended.
    pub(crate) async fn begins(&mut self) -> Option<String> {
        self.begun.recv().await
    }

    /// Tells the worker to stop, and waits until it has finished the messages in progress.
    pub(crate) async fn stop(mut self) {
        drop(self.child.stdin.take());
        while self.begins().await.is_some() {}
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills the worker process. Returns the ids of the messages that it has begun meanwhile.
    pub(crate) async fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let mut begun = vec![];
        while let Some(id) = self.begins().await {
            begun.push(id);
        }
        begun
    }
}

/// Kills the worker, so that a failed test leaves no process behind.
impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the worker process: consumes the queue until the standard input ends.
pub(crate) async fn work<Q: Shared>() {
    let [Ok(server), Ok(queue)] = PLACE.map(env::var) else { return };
    let park_after = env::var(PARK_AFTER).unwrap().parse().unwrap();
    let deliveries = Q::open([&server, &queue]).await;
    let options = ConsumeOptions::default().lease(Q::HOLDS).unwrap().park_after(park_after).until(eof());
    let _ = consume(deliveries, entity_of, &processor().await, options).await;
}

async fn eof() {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut vec![]);
        ended.send(())
    });
    let _ = end.await;
}

/// Returns a processor on a new store that has the tokens of all messages.
async fn processor() -> Processor {
    let store = MemoryStore::new();
    let tokens = store.token_store(&"tokens".parse().unwrap()).unwrap();
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
    let all: Vec<_> = good().into_iter().chain(killers()).map(|id| id.try_into().unwrap()).collect();
    tokens.create_tokens(&all).await.unwrap();
    Processor::new(entities, tokens, handle)
}

async fn handle(_: Option<Payload>, message: Message) -> Result<Decision, BoxError> {
    println!("{BEGINS}{}", message.id);
    if message.id.as_str().starts_with(KILLER) {
        tokio::time::sleep(KILLER_TAKES).await;
        std::process::abort();
    }
    tokio::time::sleep(OTHERS_TAKE).await;
    Ok(Decision::put("done")?)
}
