//! The suite's cases of a bank whose takes, confirmations, releases and reads go through Python and the SQL interface.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_conformance::{Declared, Family, Harness, Outcome, Part, Profile, Runner, Sandbox, TestClock, cases};
use storagebox_core::layer::{self, Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{
    Backend, ClaimId, ClaimState, Confirmed, End, Error, ErrorKind, Held, Hold, HoldState, Item, ListedItem, Namespace,
    Released, Result, Taken, async_trait,
};
use storagebox_testkit::python;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;

use crate::support::{Database, PostgresHarness, SetUp, failed};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/drivers/psycopg/bank.py");

struct Python {
    _process: Child,
    input: tokio::sync::Mutex<ChildStdin>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    answers: HashMap<u64, oneshot::Sender<String>>,
}

/// The answer to a take: the outcome, the item and the remaining time of the hold.
struct Said {
    outcome: String,
    item: Option<Item>,
    remaining: Option<Duration>,
}

impl Python {
    async fn start(address: &str) -> Result<Self> {
        let (url, schema) = address.split_once("&schema=").ok_or_else(|| failed("the address names no schema"))?;
        let interpreter = tokio::task::spawn_blocking(python::with_psycopg).await.map_err(failed)?.map_err(failed)?;
        let mut program = Command::new(interpreter);
        program.args([PROGRAM, url, schema]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = program.spawn().map_err(failed)?;
        let (input, output) = process.stdin.take().zip(process.stdout.take()).ok_or_else(|| failed("no pipes"))?;
        let waiting = Arc::<Mutex<Waiting>>::default();
        let answers = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Some((number, said)) = line.split_once(' ') else { continue };
                let number = number.parse().unwrap_or_default();
                let answer = answers.lock().unwrap_or_else(PoisonError::into_inner).answers.remove(&number);
                answer.map(|answer| answer.send(said.to_owned()));
            }
        });
        Ok(Self { _process: process, input: tokio::sync::Mutex::new(input), waiting })
    }

    async fn ask(&self, call: &str, bank: &Namespace, claim: &ClaimId, hold: Hold) -> Result<Said> {
        let (answer, answered) = oneshot::channel();
        let number = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.last += 1;
            let number = waiting.last;
            waiting.answers.insert(number, answer);
            number
        };
        let hold = match hold {
            Hold::Forever => "-".to_owned(),
            Hold::For(time) => time.as_micros().to_string(),
        };
        let line = format!("{number} {call} {} {} {hold}\n", hex(bank.as_str()), hex(claim.as_str()));
        self.input.lock().await.write_all(line.as_bytes()).await.map_err(failed)?;
        Said::of(&answered.await.map_err(failed)?)
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn text(hex: &str) -> Option<String> {
    let bytes = (0..hex.len() / 2).map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok());
    String::from_utf8(bytes.collect::<Option<Vec<_>>>()?).ok()
}

impl Said {
    fn of(said: &str) -> Result<Self> {
        if let Some(code) = said.strip_prefix('!') {
            let kind = if code == "55P03" { ErrorKind::Contention } else { ErrorKind::Corrupt };
            return Err(Error::new(kind, format!("Python was told {code}")));
        }
        let mut words = said.split(' ').map(|word| Some(word).filter(|word| *word != "-"));
        let mut next = || words.next().flatten();
        let (outcome, item, remaining) = (next().unwrap_or_default().to_owned(), next(), next());
        let item = item.and_then(text).map(Item::new).transpose()?;
        let remaining = remaining.and_then(|micros| micros.parse().ok()).map(Duration::from_micros);
        Ok(Self { outcome, item, remaining })
    }

    fn held(self, state: HoldState) -> Result<Held> {
        let hold = self.remaining.map_or(state, HoldState::Remaining);
        Ok(Held { item: self.item.ok_or_else(|| failed("an answer without an item"))?, hold })
    }

    fn state(self) -> Result<ClaimState> {
        match self.outcome.as_str() {
            "held" => Ok(ClaimState::Held(self.held(HoldState::Forever)?)),
            "confirmed" => Ok(ClaimState::Held(self.held(HoldState::Confirmed)?)),
            "released" => Ok(ClaimState::Ended(End::Released)),
            "expired" => Ok(ClaimState::Ended(End::Expired)),
            "unknown" => Ok(ClaimState::Unknown),
            other => Err(failed(other)),
        }
    }
}

/// A bank whose takes, confirmations, releases and reads are made by the Python process.
#[derive(Debug)]
struct Through(Arc<Python>);

impl std::fmt::Debug for Python {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Python")
    }
}

impl Through {
    async fn state(&self, bank: &Namespace, claim: &ClaimId) -> Result<ClaimState> {
        self.0.ask("get_claim", bank, claim, Hold::Forever).await?.state()
    }

    async fn end(&self, bank: &Namespace, claim: &ClaimId) -> Result<End> {
        match self.state(bank, claim).await? {
            ClaimState::Ended(end) => Ok(end),
            other => Err(failed(format_args!("a claim that has ended is {other:?}"))),
        }
    }

    async fn take(&self, bank: &Namespace, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let said = self.0.ask("assign", bank, claim, hold).await?;
        match said.outcome.as_str() {
            "new" => said.held(HoldState::Forever).map(Taken::New),
            // A hold without an end may be confirmed, which only `get_claim` shows.
            "again" if said.remaining.is_none() => match self.state(bank, claim).await? {
                ClaimState::Held(held) => Ok(Taken::Again(held)),
                other => Err(failed(format_args!("a claim that has its item is {other:?}"))),
            },
            "again" => said.held(HoldState::Forever).map(Taken::Again),
            "empty" => Ok(Taken::Empty),
            "ended" => self.end(bank, claim).await.map(Taken::Ended),
            "busy" => Err(Error::new(ErrorKind::Contention, "other transactions have locked the last items")),
            other => Err(failed(other)),
        }
    }

    async fn confirm(&self, bank: &Namespace, claim: &ClaimId) -> Result<Confirmed> {
        let said = self.0.ask("confirm", bank, claim, Hold::Forever).await?;
        match said.outcome.as_str() {
            "confirmed" => said.held(HoldState::Confirmed).map(|held| Confirmed::Confirmed(held.item)),
            "ended" => self.end(bank, claim).await.map(Confirmed::Ended),
            "unknown" => Ok(Confirmed::Unknown),
            other => Err(failed(other)),
        }
    }

    async fn release(&self, bank: &Namespace, claim: &ClaimId) -> Result<Released> {
        match self.0.ask("release", bank, claim, Hold::Forever).await?.outcome.as_str() {
            "released" => Ok(Released::Released),
            "expired" => Ok(Released::Expired),
            "confirmed" => Ok(Released::Confirmed),
            other => Err(failed(other)),
        }
    }
}

#[async_trait]
impl Layer for Through {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let Some(bank) = call.namespace.filter(|_| call.part == layer::Part::Bank) else { return next.run().await };
        match call.request {
            Request::Take { claim, hold, attempt, .. } if !attempt.is_repeated() => {
                // The library checks a hold before any I/O.
                self.take(bank, claim, hold.checked()?).await.map(Response::Take)
            }
            Request::Confirm { claim, attempt, .. } if !attempt.is_repeated() => {
                self.confirm(bank, claim).await.map(Response::Confirm)
            }
            Request::Release { claim, .. } => self.release(bank, claim).await.map(Response::Release),
            Request::GetClaim { claim, .. } => self.state(bank, claim).await.map(Response::GetClaim),
            _ => next.run().await,
        }
    }
}

struct ThroughPython(PostgresHarness);

struct Place(Box<dyn Sandbox>);

#[async_trait]
impl Harness for ThroughPython {
    fn name(&self) -> String {
        format!("{} through Python", self.0.name())
    }

    fn declared(&self) -> Declared {
        self.0.declared().without_network("Python has a connection of its own")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        self.0.bare().await
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(Place(self.0.fresh().await?)))
    }
}

#[async_trait]
impl Sandbox for Place {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let address = self.0.address().ok_or_else(|| failed("no address"))?;
        let python = Arc::new(Python::start(&address).await?);
        Ok(Arc::new(Layered::new(self.0.open().await?, Arc::new(Through(python)))))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        self.0.audit(bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        self.0.clock()
    }
}

#[test]
#[ignore = "it needs psycopg: cargo xtask prove drivers"]
fn bank_cases_pass_if_python_makes_the_calls() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let database = runtime.block_on(Database::shared())?;
    let harness = runtime.block_on(PostgresHarness::new(Arc::clone(&database), SetUp::PLAIN))?;
    let runner = Runner::new(ThroughPython(harness), Profile::SMOKE).map_err(failed)?;
    let families = [Family::Sequential, Family::Edge, Family::Concurrent];
    let (all, mut held) = (cases(), 0);
    for case in all.iter().filter(|case| case.part() == Part::ItemBank && families.contains(&case.family())) {
        match runner.run(case, fastrand::u64(..)) {
            Outcome::Passed => held += 1,
            outcome => panic!("{}: {outcome:?}", case.name()),
        }
    }
    println!("{held} cases of the bank hold through Python");
    assert!(held > 40, "only {held} cases were run");
    runtime.block_on(database.remove())
}
