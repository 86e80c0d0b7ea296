//! A server that is killed and started again under load: what it acknowledged is still so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use storagebox_core::{Backend, Result};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::{kill, until};
use crate::support::Server;
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
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn what_was_acknowledged_outlives_twenty_kills() -> Result<()> {
    let server = Server::alone(Settings::durable()).await?;
    let place = server.place().await?;
    let store = place.store()?;
    let (namespaces, load) = (Namespaces::of(&store)?, Arc::new(Load::default()));
    fill(&namespaces, ITEMS).await?;
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let caller = Caller::new(&namespaces, format!("caller-{number}"), &load.answered);
        callers.spawn(Arc::clone(&load).carry(caller));
    }
    let killed = kill_again_and_again(&server, &load).await;
    load.is_over.store(true, Ordering::SeqCst);
    let callers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    killed?;
    audit(&namespaces, ITEMS, &callers).await?;
    println!(
        "kills: {KILLS} kills under {CALLERS} callers: {} calls answered, every one still so, {} items given once each",
        load.answered.load(Ordering::SeqCst),
        callers.iter().map(Caller::rounds).sum::<i64>()
    );
    store.close().await
}

/// Kills the server at any moment of the load, and goes on when the load does.
async fn kill_again_and_again(server: &Arc<Server>, load: &Load) -> Result<()> {
    let mut random = Rng::new();
    for number in 1..=KILLS {
        let goal = load.answered.load(Ordering::SeqCst) + random.u64(50..1_000);
        until("calls that are answered", async || Ok(load.answered.load(Ordering::SeqCst) >= goal)).await?;
        kill(server).await?;
        println!("kills: {number} of {KILLS}, after {goal} answers");
    }
    Ok(())
}
