//! The slot of a bank moves back and forth between masters under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use storagebox_core::{Backend, Result};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::until;
use crate::support::{Place, Resharding, Server};
use storagebox_testkit::workload::{Caller, Namespaces, audit, fill};

const MOVES: u64 = 6;
const CALLERS: usize = 16;
const ITEMS: usize = 50_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_slot_that_moves_under_load_loses_nothing() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.store()?;
    let (namespaces, answered, is_over) = (Namespaces::of(&store)?, Arc::default(), Arc::new(AtomicBool::new(false)));
    fill(&namespaces, ITEMS).await?;
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let caller = Caller::new(&namespaces, format!("caller-{number}"), &answered);
        callers.spawn(carry(caller, Arc::clone(&is_over)));
    }
    let moved = move_again_and_again(&place, &answered).await;
    is_over.store(true, Ordering::SeqCst);
    let callers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    moved?;
    audit(&namespaces, ITEMS, &callers).await?;
    println!(
        "resharding: {MOVES} moves of a bank's slot under {CALLERS} callers: {} calls answered, every one still so",
        answered.load(Ordering::SeqCst)
    );
    store.close().await
}

async fn carry(mut caller: Caller, is_over: Arc<AtomicBool>) -> Result<Caller> {
    while !is_over.load(Ordering::SeqCst) {
        caller.round().await?;
    }
    caller.round().await?;
    Ok(caller)
}

/// Moves the bank's slot in parts repeatedly, after every 500 answers to the callers.
async fn move_again_and_again(place: &Place, answered: &AtomicU64) -> Result<()> {
    for number in 1..=MOVES {
        let goal = answered.load(Ordering::SeqCst) + 500;
        until("calls that are answered", async || Ok(answered.load(Ordering::SeqCst) >= goal)).await?;
        let mut moving = Resharding::begin(place, "b.namespace.0").await?;
        for part in 0..10 {
            moving.move_those(place, |key| key.ends_with(&part.to_string())).await?;
        }
        moving.finish(place).await?;
        println!("resharding: {number} of {MOVES}, after {goal} answers");
    }
    Ok(())
}
