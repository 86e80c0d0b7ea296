//! A server that is killed and restarted under load: every acknowledged call still holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use storagebox_core::{Backend, Result};
use tokio::task::JoinSet;

use super::until;
use crate::workload::{Caller, Namespaces, audit, fill};

const KILLS: u64 = 20;
const CALLERS: usize = 16;
const ITEMS: usize = 100_000;

/// The state that the callers share.
#[derive(Default)]
struct Load {
    answered: Arc<AtomicU64>,
    is_over: AtomicBool,
}

impl Load {
    /// Makes rounds of calls until the kills are over, and then one more round.
    async fn carry(self: Arc<Self>, mut caller: Caller) -> Result<Caller> {
        while !self.is_over.load(Ordering::SeqCst) {
            caller.round().await?;
        }
        caller.round().await?;
        Ok(caller)
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::SeqCst)
    }
}

/// Runs callers of every part, while `kill` ends and restarts the server twenty times. Prints one line of results.
pub async fn outlives_twenty_kills(store: &dyn Backend, kill: impl AsyncFnMut() -> Result<()>) -> Result<()> {
    let (namespaces, load) = (Namespaces::of(store)?, Arc::new(Load::default()));
    fill(&namespaces, ITEMS).await?;
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let caller = Caller::new(&namespaces, format!("caller-{number}"), &load.answered);
        callers.spawn(Arc::clone(&load).carry(caller));
    }
    let killed = kill_again_and_again(kill, &load).await;
    load.is_over.store(true, Ordering::SeqCst);
    let callers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    killed?;
    audit(&namespaces, ITEMS, &callers).await?;
    println!(
        "kills: {KILLS} kills under {CALLERS} callers: {} calls answered, every one still so, {} items given once each",
        load.answered(),
        callers.iter().map(Caller::rounds).sum::<i64>()
    );
    Ok(())
}

/// Kills the server twenty times. Before each kill, waits until the callers have got a random number of answers.
async fn kill_again_and_again(mut kill: impl AsyncFnMut() -> Result<()>, load: &Load) -> Result<()> {
    let mut random = Rng::new();
    for number in 1..=KILLS {
        let goal = load.answered() + random.u64(50..1_000);
        until("calls that are answered", async || Ok(load.answered() >= goal)).await?;
        kill().await?;
        println!("kills: {number} of {KILLS}, after {goal} answers");
    }
    Ok(())
}
