//! A second process of the test program: it opens a sandbox, makes calls on request, and can be killed.

use std::env;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox_core::{Backend, Result};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Builder;

use crate::failure::Failure;
use crate::store::{numbers, race, steps::Step, storm};

/// The environment variable that marks a second process, which the suite has started.
const ASKED: &str = "STORAGEBOX_NEIGHBOUR";

/// The question that makes a neighbour take items until it is killed, and print a line for each item.
const STORM: &str = "storm";

/// If the suite started this process as a neighbour, serves the suite until it needs the process no longer, and returns
/// the exit code. Otherwise returns `None`. Call it first in the `main` of a conformance test.
///
/// The suite starts its own program again, lets it open the place that [`Sandbox::address`](crate::Sandbox::address)
/// returns, and kills it between two calls or works concurrently with it. Without this call the program would run the
/// suite.
///
/// # Example
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use std::sync::Arc;
/// # use storagebox_conformance::{Embedded, neighbour, run};
/// # use storagebox_memory::MemoryStore;
/// # fn harness() -> impl storagebox_conformance::Harness { Embedded::new("x", |clock| MemoryStore::builder().clock(clock).build()) }
/// fn main() -> ExitCode {
///     neighbour(async |address| Ok(Arc::new(open(&address)?) as _)).unwrap_or_else(|| run(harness()))
/// }
/// # fn open(_: &str) -> storagebox_core::Result<MemoryStore> { Ok(MemoryStore::new()) }
/// ```
pub fn neighbour(open: impl AsyncFnOnce(String) -> Result<Arc<dyn Backend>>) -> Option<ExitCode> {
    if !is_neighbour() {
        return None;
    }
    Some(match serve(open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a neighbour: {error}");
            ExitCode::FAILURE
        }
    })
}

pub(crate) fn is_neighbour() -> bool {
    env::var_os(ASKED).is_some()
}

/// Opens the store, prints `ready`, and then answers each question from standard input with a line.
fn serve(open: impl AsyncFnOnce(String) -> Result<Arc<dyn Backend>>) -> Result<(), Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let mut lines = io::stdin().lines();
    let Some(address) = lines.next() else { return Ok(()) };
    let store = runtime.block_on(open(address.map_err(failed)?))?;
    say("ready")?;
    for question in lines {
        match question.map_err(failed)?.as_str() {
            STORM => runtime.block_on(storm::run(&*store, say))?,
            question => say(&runtime.block_on(answer(&*store, question))?)?,
        }
    }
    Ok(())
}

fn say(answer: &str) -> Result<(), Failure> {
    println!("{answer}");
    io::stdout().flush().map_err(failed)
}

async fn answer(store: &dyn Backend, question: &str) -> Result<String, Failure> {
    let (what, of) = question.split_once(' ').unwrap_or((question, ""));
    match what {
        "make" => Step::named(of)?.make(store).await.map(|()| String::new()),
        "setup" => store.setup().await.map(|()| String::new()).map_err(Failure::from),
        "made" => Step::named(of)?.is_made(store).await.map(|made| made.to_string()),
        "number" => numbers::next(store, of).await.map(|number| number.to_string()),
        "race" => race::run(store, of).await.map(|won| won.join(" ")),
        _ => Err(Failure::new(format!("unknown question: {question}"))),
    }
}

/// The number of neighbours that this process has killed, for the report.
static KILLED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn killed() -> usize {
    KILLED.load(Ordering::Relaxed)
}

/// A running neighbour process, which is killed when this value is dropped.
pub(crate) struct Neighbour {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Neighbour {
    /// Starts a neighbour, and returns when it has opened the store at this address.
    pub(crate) async fn start(address: &str) -> Result<Self, Failure> {
        let mut program = Command::new(env::current_exe().map_err(failed)?);
        program.env(ASKED, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = program.spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or_else(|| Failure::new("the other process has no pipes"))?;
        let mut started = Self { child, questions, answers: BufReader::new(answers).lines() };
        let ready = started.ask(address).await?;
        match ready.as_str() {
            "ready" => Ok(started),
            _ => {
                Err(Failure::new(format!("the test's `main` does not begin with `neighbour(...)`: it wrote {ready:?}")))
            }
        }
    }

    pub(crate) async fn set_up(&mut self) -> Result<(), Failure> {
        self.ask("setup").await.map(drop)
    }

    pub(crate) async fn make(&mut self, step: Step) -> Result<(), Failure> {
        self.ask(&format!("make {}", step.name())).await.map(drop)
    }

    pub(crate) async fn is_made(&mut self, step: Step) -> Result<bool, Failure> {
        Ok(self.ask(&format!("made {}", step.name())).await? == "true")
    }

    pub(crate) async fn number(&mut self, of: &str) -> Result<u64, Failure> {
        self.ask(&format!("number {of}")).await?.parse().map_err(failed)
    }

    pub(crate) async fn race(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        Ok(self.ask(&format!("race {name}")).await?.split_whitespace().map(str::to_owned).collect())
    }

    /// Kills the process after it has taken `items` items, and returns the lines that the process has printed.
    pub(crate) async fn killed_in_a_storm(mut self, items: usize) -> Result<Vec<String>, Failure> {
        let mut told = vec![self.ask(STORM).await?];
        while told.len() < items {
            let line = self.answers.next_line().await.map_err(failed)?;
            told.push(line.ok_or_else(|| ended(STORM))?);
        }
        self.end().await?;
        while let Some(line) = self.answers.next_line().await.map_err(failed)? {
            told.push(line);
        }
        Ok(told)
    }

    /// Kills the process with SIGKILL.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        self.end().await
    }

    async fn end(&mut self) -> Result<(), Failure> {
        KILLED.fetch_add(1, Ordering::Relaxed);
        self.child.kill().await.map_err(failed)
    }

    async fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let asked = self.questions.write_all(format!("{question}\n").as_bytes()).await;
        asked.map_err(|_| Failure::new("another process ended; its output is printed above"))?;
        let answer = self.answers.next_line().await.map_err(failed)?;
        answer.ok_or_else(|| ended(question))
    }
}

fn ended(question: &str) -> Failure {
    Failure::new(format!("another process ended at `{}`; its output is printed above", first(question)))
}

/// Returns the text that an error shows for the question.
fn first(question: &str) -> &str {
    // An address may contain a password, so the error does not show an address.
    ["setup", "make ", "made ", "number ", "race ", STORM]
        .iter()
        .find(|word| question.starts_with(**word))
        .map_or("its start", |_| question)
}

fn failed(error: impl Display) -> Failure {
    Failure::new(format!("the neighbour process failed: {error}"))
}
