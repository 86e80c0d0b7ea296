//! A master that is killed under load while its replica takes over.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::{Backend, ClaimId, ClaimState, Error, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::scene::until;
use crate::support::{Place, Server, failed};

const CALLERS: usize = 16;
const ITEMS: usize = 200_000;
/// The number of acknowledged takes that the replica does not receive.
const UNSEEN: usize = 1_000;

const BANK: &str = "b.namespace.0";

/// The acknowledged items, by claim.
type Given = HashMap<String, Item>;

/// With `wait=1`, the promoted replica has each acknowledged take.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_take_with_wait_survives_the_kill_of_the_master() -> Result<()> {
    nothing_is_lost("failover", Server::cluster(quick_to_fail_over()).await?).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_failover_by_sentinels_loses_no_take() -> Result<()> {
    nothing_is_lost("failover by Sentinel", Server::sentinels(quick_to_fail_over()).await?).await
}

async fn nothing_is_lost(what: &str, server: Arc<Server>) -> Result<()> {
    let (lost, double, given) = fail_over(server, 1, Replica::Follows).await?;
    println!("{what}, wait 1: {given} takes acknowledged, {lost} lost, {double} items with two claims");
    assert_eq!((lost, double), (0, 0), "{what}");
    Ok(())
}

/// Without `wait`, a failover can lose acknowledged takes. An item has two claims only if one of its takes was lost.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn lost_takes_without_wait_are_counted_by_the_audit() -> Result<()> {
    let cluster = Server::cluster(quick_to_fail_over()).await?;
    let (lost, double, given) = fail_over(cluster, 0, Replica::Lags).await?;
    println!("failover, wait 0: {given} takes acknowledged, {lost} lost, {double} items with two claims");
    assert!(lost >= UNSEEN, "a replica that lagged lost {lost} takes, of at least {UNSEEN}");
    assert!(double <= lost, "an item has two claims, and none of them was lost");
    Ok(())
}

/// Returns the settings of servers that soon replace a killed master.
fn quick_to_fail_over() -> Settings {
    Settings::durable().with_failover_after(Duration::from_secs(2))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Replica {
    Follows,
    Lags,
}

async fn fail_over(server: Arc<Server>, wait: u32, replica: Replica) -> Result<(usize, usize, usize)> {
    let place = server.place().await?;
    let store = place.builder()?.wait(wait, Duration::from_secs(2)).connect(&server.url())?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&(0..ITEMS).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
    let mut load = Load::on(&bank);
    load.goes_on("takes before the kill", 1_000).await?;
    if replica == Replica::Lags {
        hold_the_replica_of(&place).await?;
        // The replica may have some of the takes that are in progress now.
        load.goes_on("takes that no replica has", UNSEEN + CALLERS).await?;
    }
    kill_the_master_of(&place).await?;
    load.goes_on("takes after the failover", 1_000).await?;
    let given = load.end().await?;
    let audited = audit(&*bank, &given).await?;
    store.close().await?;
    Ok((audited.0, audited.1, given.len()))
}

struct Load {
    callers: JoinSet<Result<Given>>,
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    /// The last error that made a task repeat a take.
    met: Arc<Mutex<String>>,
}

impl Load {
    fn on(bank: &Arc<dyn ItemBank>) -> Self {
        let (is_over, answered, met) = Default::default();
        let mut load = Self { callers: JoinSet::new(), is_over, answered, met };
        for number in 0..CALLERS {
            let caller = Caller {
                number,
                is_over: Arc::clone(&load.is_over),
                answered: Arc::clone(&load.answered),
                met: Arc::clone(&load.met),
            };
            load.callers.spawn(caller.takes_on(Arc::clone(bank)));
        }
        load
    }

    /// Waits until `takes` further takes are answered. Returns an error if a task has stopped.
    async fn goes_on(&mut self, what: &str, takes: usize) -> Result<()> {
        let enough = self.answered.load(Ordering::SeqCst) + takes;
        let (callers, answered) = (&mut self.callers, &self.answered);
        let going_on = until(what, async || match callers.try_join_next() {
            Some(ended) => Err(ended.map_err(failed)?.expect_err("it is not over")),
            None => Ok(answered.load(Ordering::SeqCst) >= enough),
        });
        going_on.await.map_err(|error| {
            let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
            failed(format_args!("{error}; the last attempt met: {met}"))
        })
    }

    async fn end(self) -> Result<Given> {
        self.is_over.store(true, Ordering::SeqCst);
        let ended: Result<Vec<_>> = self.callers.join_all().await.into_iter().collect();
        Ok(ended?.into_iter().flatten().collect())
    }
}

struct Caller {
    number: usize,
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    met: Arc<Mutex<String>>,
}

impl Caller {
    /// Takes an item for one claim after another, and repeats each take until it is answered.
    async fn takes_on(self, bank: Arc<dyn ItemBank>) -> Result<Given> {
        let mut given = Given::new();
        while !self.is_over.load(Ordering::SeqCst) {
            let claim = format!("{}-{}", self.number, given.len());
            let id = ClaimId::new(claim.as_str())?;
            let item = loop {
                match bank.take(&id, Hold::Forever).await {
                    Ok(Taken::New(held) | Taken::Again(held)) => break held.item,
                    Ok(other) => return Err(failed(format_args!("{claim} was told {other:?}"))),
                    Err(error) if error.is_retryable() => self.pauses(&error).await,
                    Err(error) => return Err(error),
                }
            };
            given.insert(claim, item);
            self.answered.fetch_add(1, Ordering::SeqCst);
        }
        Ok(given)
    }

    async fn pauses(&self, after: &Error) {
        *self.met.lock().unwrap_or_else(PoisonError::into_inner) = format!("{after:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Makes the bank's master send no more changes to its replica.
async fn hold_the_replica_of(place: &Place) -> Result<()> {
    let number = place.master_of(BANK).await?.ok_or_else(|| failed("no master has the bank"))?;
    let mut master = place.server.node(number).await?;
    let mut hold = redis::pipe();
    hold.cmd("ACL").arg("SETUSER").arg("default").arg("-psync").arg("-sync").ignore();
    hold.cmd("CLIENT").arg("KILL").arg("TYPE").arg("replica").ignore();
    hold.exec_async(&mut master).await.map_err(failed)
}

/// Kills the master of the bank, waits for the promotion of its replica, and restarts the killed server as a replica.
async fn kill_the_master_of(place: &Place) -> Result<()> {
    let number = place.master_of(BANK).await?.ok_or_else(|| failed("no master has the bank"))?;
    let server = Arc::clone(&place.server);
    on_the_node(&server, number, |node| node.kill()).await?;
    until("another master", async || Ok(place.master_of(BANK).await?.is_some())).await?;
    on_the_node(&server, number, |node| node.start_again()).await
}

async fn on_the_node(
    server: &Arc<Server>,
    number: usize,
    act: fn(&Redis) -> Result<(), storagebox_testkit::Failure>,
) -> Result<()> {
    let server = Arc::clone(server);
    let acted = spawn_blocking(move || act(&server.nodes()[number]));
    acted.await.map_err(failed)?.map_err(failed)
}

/// Returns the number of lost acknowledged takes, and the number of items acknowledged to two claims.
async fn audit(bank: &dyn ItemBank, given: &Given) -> Result<(usize, usize)> {
    let (mut lost, mut claims_of) = (HashSet::new(), HashMap::<_, Vec<_>>::new());
    for (claim, item) in given {
        claims_of.entry(item).or_default().push(claim);
        match bank.get(&ClaimId::new(claim.as_str())?).await? {
            ClaimState::Held(held) if held.item == *item => {}
            ClaimState::Unknown => drop(lost.insert(claim)),
            other => return Err(failed(format_args!("{claim} was given {item:?} and is {other:?}"))),
        }
    }
    for claim in lost.iter().take(5) {
        println!("failover: the take of {claim} was lost");
    }
    let double = claims_of.values().filter(|claims| claims.len() > 1);
    let kept = |claims: &&Vec<&String>| claims.iter().filter(|claim| !lost.contains(*claim)).count();
    if let Some(claims) = double.clone().find(|claims| kept(claims) > 1) {
        return Err(failed(format_args!("one item is held by {claims:?}")));
    }
    Ok((lost.len(), double.count()))
}
