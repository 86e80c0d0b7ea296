//! Runs the suite without each right of the README's list: first with the right missing from the beginning, then with
//! the right repeatedly taken away and restored. Cases fail, because their calls are `Denied`. No call is `Corrupt`, no
//! answer is lost, and once the right is restored, no item is lost.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::cmd;
use storagebox_conformance::{
    Declared, End, Harness, Options, Part, Profile, Sandbox, Selection, TestClock, certify, listed,
};
use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{
    Backend, Certainty, ErrorKind, Hold, ItemState, Joins, ListedItem, Namespace, Result, async_trait,
};
use storagebox_redis::{Moved, RedisStore};
use storagebox_testkit::checks::harness::everything;
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::support::{Place, Server, failed};

const COMMANDS: &str = include_str!("../../lua/commands.txt");

/// A call timeout that no call reaches, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long the right is missing each time.
const GONE: Duration = Duration::from_millis(5);
/// How long the right stays granted, so that the calls of a case can begin.
const THERE: Duration = Duration::from_millis(50);

/// The number of denied calls, and the errors that no call may return.
#[derive(Debug, Default)]
struct Heard {
    denied: AtomicUsize,
    faults: Mutex<Vec<String>>,
}

#[async_trait]
impl Layer for Heard {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answer = next.run().await;
        if let Err(error) = &answer {
            // In cases of ER-5, a refused call is `OutcomeUnknown` without an error of the driver.
            let is_lost = error.certainty() == Certainty::Unknown && error.source().is_some();
            match error.kind() {
                // A call of many steps may have done some of them.
                ErrorKind::Denied => drop(self.denied.fetch_add(1, Ordering::SeqCst)),
                kind if kind == ErrorKind::Corrupt || is_lost => {
                    lock(&self.faults).push(format!("{}: {error:?}", call.operation()));
                }
                _ => {}
            }
        }
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone)]
struct Denying {
    server: Arc<Server>,
    places: Arc<Mutex<Vec<Arc<Place>>>>,
    heard: Arc<Heard>,
}

impl Denying {
    fn places(&self) -> MutexGuard<'_, Vec<Arc<Place>>> {
        lock(&self.places)
    }

    /// Returns a case with a new prefix, for which no store is set up.
    fn case(&self) -> Case {
        let number = self.places().len();
        let prefix = format!("{}.{number}.{:08x}", self.server.user(), fastrand::u32(..));
        let place = Arc::new(Place { server: Arc::clone(&self.server), prefix, moved: Moved::default() });
        self.places().push(Arc::clone(&place));
        Case(place, Arc::clone(&self.heard))
    }

    async fn set(&self, rule: String) -> Result<()> {
        self.server.ask(cmd("ACL").arg("SETUSER").arg(self.server.user()).arg(rule)).await
    }
}

fn by_administrator(place: &Place) -> Result<RedisStore> {
    place.builder()?.connect(place.server.url_as_administrator())
}

#[async_trait]
impl Harness for Denying {
    fn name(&self) -> String {
        "redis, with rights that go".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without(Part::Strategies, "of the counters, Redis has Atomic, Marker, Window and Sharded")
            .without_network("it is rights that are looked at")
            .without_restart("it is rights that are looked at")
            .without_processes("it is rights that are looked at")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(self.case()))
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        let sandbox = self.case();
        by_administrator(&sandbox.0)?.setup().await?;
        Ok(Box::new(sandbox))
    }
}

struct Case(Arc<Place>, Arc<Heard>);

#[async_trait]
impl Sandbox for Case {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let store = self.0.builder()?.call_timeout(PATIENCE).connect(&self.0.server.url())?;
        Ok(Arc::new(Layered::new(Arc::new(store), Arc::<Heard>::clone(&self.1))))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&by_administrator(&self.0)?, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(Hand(self.0.moved.clone())))
    }
}

struct Hand(Moved);

impl TestClock for Hand {
    fn advance(&self, duration: Duration) {
        self.0.advance(duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.0.turn_back(duration);
    }
}

/// Runs the suite once, and returns the numbers of passed cases and denied calls.
fn suite(harness: &Denying) -> (usize, usize) {
    let denied = harness.heard.denied.load(Ordering::SeqCst);
    let held = AtomicUsize::new(0);
    let options = Options::new(Profile::SMOKE).threads(4);
    let selection = if everything() { Selection::Everything } else { Selection::Smoke };
    certify(harness.clone(), options.selection(selection), |_, end| {
        held.fetch_add(usize::from(*end == End::Held), Ordering::SeqCst);
    })
    .expect("threads");
    (held.into_inner(), harness.heard.denied.load(Ordering::SeqCst) - denied)
}

/// Revokes and grants the right alternately until `over` is set, and grants the right at the end.
async fn turns(harness: Denying, right: String, over: Arc<AtomicBool>) -> Result<()> {
    while !over.load(Ordering::SeqCst) {
        harness.set(format!("-{right}")).await?;
        sleep(GONE).await;
        harness.set(format!("+{right}")).await?;
        sleep(THERE).await;
    }
    Ok(())
}

/// Audits the data of all cases, and returns the number of items.
async fn audit(place: &Place) -> Result<usize> {
    let (store, mut items) = (by_administrator(place)?, 0);
    while store.maintain(1_000).await?.more {}
    let key = format!("{}:namespaces", place.key("store"));
    let tags: Vec<String> = place.server.ask(cmd("SMEMBERS").arg(key)).await?;
    for tag in tags {
        let (kind, name) = tag.split_once('.').ok_or_else(|| failed(&tag))?;
        let name: Namespace = unescaped(name.trim_end_matches(".0")).parse()?;
        match kind {
            "b" => items += audit_bank(&store, &name).await?,
            "r" => drop(store.dedup_repo(&name)?.list(None, 1_000).await?),
            "e" => drop(store.entity_ledger(&name, &Joins::default())?.pending(None, 1_000).await?),
            _ => {}
        }
    }
    Ok(items)
}

fn unescaped(name: &str) -> String {
    let mut pieces = name.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).unwrap_or_default());
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks that the counts agree with the list, that each held item belongs to its claim, and that each free item can be
/// taken once.
async fn audit_bank(store: &RedisStore, name: &Namespace) -> Result<usize> {
    let (bank, all) = (store.item_bank(name)?, listed(store, name).await?);
    let free = all.iter().filter(|one| one.state == ItemState::Free).count();
    let counts = bank.counts().await?;
    assert_eq!((counts.total(), counts.free), (all.len() as u64, free as u64), "{name:?}");
    for number in 0..free {
        let taken = bank.take(&format!("auditor-{number}").parse()?, Hold::Forever).await?;
        assert!(taken.item().is_some(), "{name:?}: {number} of {free} can be taken");
    }
    assert!(bank.take(&"auditor".parse()?, Hold::Forever).await?.item().is_none(), "{name:?}: more than {free}");
    Ok(all.len())
}

fn audit_all(runtime: &Runtime, harness: &Denying) -> (usize, usize) {
    let places = std::mem::take(&mut *harness.places());
    let audits = places.iter().map(|place| match runtime.block_on(audit(place)) {
        Ok(items) => items,
        Err(error) if error.kind() == ErrorKind::NotSetUp => 0,
        Err(error) => panic!("{}: {error:?}", place.prefix),
    });
    (places.len(), audits.sum())
}

#[test]
#[ignore = "it takes minutes: cargo xtask prove redis"]
fn the_suite_loses_nothing_while_one_right_is_missing() {
    let runtime = Runtime::new().expect("threads");
    let server = runtime.block_on(Server::shared()).expect("a server");
    let harness = Denying { server, places: Arc::default(), heard: Arc::default() };
    for right in COMMANDS.lines().filter_map(|line| line.split(' ').next()) {
        runtime.block_on(harness.set(format!("-{right}"))).expect("an answer");
        let before = suite(&harness);
        runtime.block_on(harness.set(format!("+{right}"))).expect("an answer");
        let over = Arc::new(AtomicBool::new(false));
        let turning = runtime.spawn(turns(harness.clone(), right.to_owned(), Arc::clone(&over)));
        let during = suite(&harness);
        over.store(true, Ordering::SeqCst);
        runtime.block_on(turning).expect("it ends").expect("an answer");
        let faults = std::mem::take(&mut *lock(&harness.heard.faults));
        assert!(faults.is_empty(), "without {right}: {} faults: {faults:#?}", faults.len());
        assert!(before.1 > 0 && during.1 > 0, "without {right}: {before:?} and {during:?}");
        let (places, items) = audit_all(&runtime, &harness);
        println!(
            "without {right}: {} cases held, {} calls denied; while it went and came: {} and {}; {places} stores audited, with {items} items",
            before.0, before.1, during.0, during.1
        );
    }
    runtime.block_on(harness.server.remove()).expect("an answer");
}
