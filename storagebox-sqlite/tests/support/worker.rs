//! Other processes on a file: this test program is started again, makes calls and prints their outcomes.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use storagebox_core::{
    Backend, Change, ClaimId, ClaimState, Confirmed, Counted, Counter, DedupId, DedupRepo, Hold, HoldState, Item,
    ItemBank, Key, Recorded, Result, Retention, Strategy,
};
use storagebox_sqlite::SqliteStore;
use tokio::runtime::Builder;

use super::place::failed;

const FILE: &str = "STORAGEBOX_SQLITE_WORKER_FILE";
const NAME: &str = "STORAGEBOX_SQLITE_WORKER_NAME";
const ROUNDS: &str = "STORAGEBOX_SQLITE_WORKER_ROUNDS";

/// The counter that all workers share.
const SHARED: &str = "everybody's";

/// The name of all namespaces of the workers.
const NAMESPACE: &str = "workers";

/// A running worker.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// The standard input of the worker, which ends when this input is closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    acked: Vec<String>,
}

/// The outcomes of workers: the item of each round, by the id of the round.
#[derive(Debug, Default)]
pub struct Acked(pub BTreeMap<String, String>);

impl Worker {
    /// Starts a worker that makes this number of rounds, unless it is ended before.
    pub fn start(file: &Path, name: &str, rounds: usize) -> io::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .env(FILE, file)
            .env(NAME, name)
            .env(ROUNDS, rounds.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let nothing = || io::Error::other("it has no pipes");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or_else(nothing)?);
        Ok(Self { child, input, output, acked: vec![] })
    }

    /// Waits for this number of rounds, and kills the worker by SIGKILL during its next calls.
    pub fn killed_after(mut self, rounds: usize) -> io::Result<Acked> {
        self.wait_for(rounds)?;
        self.child.kill()?;
        self.read_rest()?;
        self.child.wait()?;
        Ok(self.into_acked())
    }

    /// Waits for this number of rounds, and asks the worker to end.
    pub fn ended_after(mut self, rounds: usize) -> io::Result<Acked> {
        self.wait_for(rounds)?;
        drop(self.input.take());
        self.finished()
    }

    /// Waits until the worker has made all its rounds.
    pub fn finished(mut self) -> io::Result<Acked> {
        self.read_rest()?;
        match self.child.wait()?.success() {
            true => Ok(self.into_acked()),
            false => Err(io::Error::other("a worker failed; what it said is above")),
        }
    }

    fn wait_for(&mut self, rounds: usize) -> io::Result<()> {
        while self.acked.len() < rounds {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::Error::other("a worker ended before its time; what it said is above"));
            }
            self.acked.push(line);
        }
        Ok(())
    }

    /// Reads the remaining output, without an incomplete last line.
    fn read_rest(&mut self) -> io::Result<()> {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest)?;
        self.acked.extend(rest.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned));
        Ok(())
    }

    fn into_acked(self) -> Acked {
        let pairs = self.acked.iter().filter_map(|line| line.trim_end().split_once(' '));
        Acked(pairs.map(|(id, item)| (id.to_owned(), item.to_owned())).collect())
    }
}

impl Acked {
    /// Checks that the file agrees with all outcomes, and that no item was given twice.
    pub async fn audit(&self, file: &Path) -> Result<()> {
        let store = SqliteStore::open(file)?;
        let (bank, records) = (store.item_bank(&NAMESPACE.parse()?)?, store.dedup_repo(&NAMESPACE.parse()?)?);
        let mut items: Vec<_> = self.0.values().collect();
        items.sort();
        items.dedup();
        assert_eq!(items.len(), self.0.len(), "items that were given");
        for (id, item) in &self.0 {
            let state = bank.get(&ClaimId::new(id.as_str())?).await?;
            let is_so = matches!(&state, ClaimState::Held(held)
                if held.hold == HoldState::Confirmed && held.item.as_str() == item);
            assert!(is_so, "{id} was told {item}, and is {state:?}");
            let recorded = records.get(&DedupId::new(id.as_str())?).await?;
            let value = recorded.map(|entry| entry.value.into_bytes());
            assert_eq!(value.as_deref(), Some(item.as_bytes()), "the record of {id}");
        }
        let count = store.counter(&NAMESPACE.parse()?, Strategy::default())?.value(&Key::new(SHARED)?).await?;
        assert!(count >= self.0.len() as i64, "{count} is less than what was counted");
        store.close().await
    }

    /// Returns the number of rounds that the workers counted.
    pub async fn counted(file: &Path) -> Result<i64> {
        let store = SqliteStore::open(file)?;
        let counted = store.counter(&NAMESPACE.parse()?, Strategy::default())?.value(&Key::new(SHARED)?).await?;
        store.close().await.map(|()| counted)
    }
}

/// Works if this process was started as a worker, and returns its exit code. Otherwise returns `None`.
pub fn be_a_worker_if_asked() -> Option<ExitCode> {
    let (file, name) = (env::var_os(FILE)?, env::var(NAME).ok()?);
    let rounds = env::var(ROUNDS).ok()?.parse().ok()?;
    let worked = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(failed)
        .and_then(|runtime| runtime.block_on(work(PathBuf::from(file), &name, rounds)));
    Some(match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the worker {name}: {error}");
            ExitCode::FAILURE
        }
    })
}

/// Makes the rounds of a worker (`one_round`) until all are made or the standard input ends.
async fn work(file: PathBuf, name: &str, rounds: usize) -> Result<()> {
    // Longer than a call takes on a busy machine.
    let store = SqliteStore::builder().call_timeout(Duration::from_secs(60)).open(file)?;
    store.setup().await?;
    let (told, ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ended = io::stdin().read_to_end(&mut vec![]);
        drop(told);
    });
    tokio::select! {
        worked = make_rounds(&store, name, rounds) => worked?,
        _ = ended, if rounds == usize::MAX => {}
    }
    store.close().await
}

async fn make_rounds(store: &SqliteStore, name: &str, rounds: usize) -> Result<()> {
    let from = first_round(store, name).await?;
    for round in from..from.saturating_add(rounds) {
        let id = format!("{name}-{round}");
        let item = one_round(store, &id).await?;
        let mut output = io::stdout().lock();
        writeln!(output, "{id} {item}").and_then(|()| output.flush()).map_err(failed)?;
    }
    Ok(())
}

/// Returns the number of the first round that no earlier worker of this name has recorded.
async fn first_round(store: &SqliteStore, name: &str) -> Result<usize> {
    let records = store.dedup_repo(&NAMESPACE.parse()?)?;
    let mut round = 0;
    while records.get(&DedupId::new(format!("{name}-{round}"))?).await?.is_some() {
        round += 1;
    }
    Ok(round)
}

/// Adds, takes and records an item, and counts the round. A repeated round has the same effect.
async fn one_round(store: &SqliteStore, id: &str) -> Result<String> {
    let bank = store.item_bank(&NAMESPACE.parse()?)?;
    bank.add(&[Item::new(format!("item-of-{id}"))?]).await?;
    let taken = bank.take(&id.parse()?, Hold::Forever).await?;
    let item = taken.item().ok_or_else(|| failed(format_args!("{id} was told {taken:?}")))?.clone();
    match bank.confirm(&ClaimId::new(id)?).await? {
        Confirmed::Confirmed(confirmed) if confirmed == item => {}
        other => return Err(failed(format_args!("{id} was told {other:?}"))),
    }
    match store
        .dedup_repo(&NAMESPACE.parse()?)?
        .record(&id.parse()?, &item.as_str().try_into()?, &id.parse()?, Retention::Forever)
        .await?
    {
        Recorded::New(_) => {}
        Recorded::Again(entry) if entry.value.as_bytes() == item.as_str().as_bytes() => {}
        other => return Err(failed(format_args!("{id} was told {other:?}"))),
    }
    match store
        .counter(&NAMESPACE.parse()?, Strategy::default())?
        .apply(&SHARED.parse()?, &Change::new(id.parse()?, 1))
        .await?
    {
        Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(item.as_str().to_owned()),
        other => Err(failed(format_args!("{id} was told {other:?}"))),
    }
}
