//! A server that is killed and started again under load: what it acknowledged is still so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use storagebox_core::{Backend, Error, Result};
use storagebox_testkit::Failure;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::{JoinSet, spawn_blocking};

use crate::scene::until;
use crate::support::{Database, failed};
use storagebox_testkit::workload::{Caller, Namespaces, audit, fill};

const KILLS: u64 = 20;
const CALLERS: usize = 16;
const ITEMS: usize = 100_000;

/// What the callers share.
#[derive(Default)]
struct Load {
    answered: Arc<AtomicU64>,
    is_over: AtomicBool,
}

impl Load {
    /// Calls until it is over; then once more, on a server that stays.
    async fn carry(self: Arc<Self>, mut caller: Caller) -> Result<Caller> {
        while !self.is_over.load(Ordering::SeqCst) {
            caller.round().await?;
        }
        caller.round().await?;
        Ok(caller)
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn what_was_acknowledged_outlives_twenty_kills() -> Result<()> {
    let server = on_the_server(|| Postgres::start(&Settings::durable())).await?;
    let database = Database::alone(server).await?;
    let place = database.place().await?;
    let store = place.builder()?.connect(&place.url_at(database.server()))?;
    let (namespaces, load) = (Namespaces::of(&store)?, Arc::new(Load::default()));
    fill(&namespaces, ITEMS).await?;
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let caller = Caller::new(&namespaces, format!("caller-{number}"), &load.answered);
        callers.spawn(Arc::clone(&load).carry(caller));
    }
    let killed = kill_again_and_again(&database, &load).await;
    load.is_over.store(true, Ordering::SeqCst);
    let callers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    killed?;
    audit(&namespaces, ITEMS, &callers).await?;
    println!(
        "kills: {KILLS} kills under {CALLERS} callers: {} calls answered, every one still so, {} items given once each",
        load.answered.load(Ordering::SeqCst),
        callers.iter().map(Caller::rounds).sum::<i64>()
    );
    store.close().await?;
    database.remove().await
}

/// Kills the server at any moment of the load, and goes on when the load does.
async fn kill_again_and_again(database: &Arc<Database>, load: &Load) -> Result<()> {
    let mut random = Rng::new();
    for kill in 1..=KILLS {
        let goal = load.answered.load(Ordering::SeqCst) + random.u64(50..1_000);
        until("calls that are answered", async || Ok(load.answered.load(Ordering::SeqCst) >= goal)).await?;
        let database = Arc::clone(database);
        on_the_server(move || {
            let server = database.own().expect("a server of its own");
            server.kill()?;
            server.start_again()
        })
        .await?;
        println!("kills: {kill} of {KILLS}, after {goal} answers");
    }
    Ok(())
}

async fn on_the_server<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(failed)?.map_err(failed)
}
