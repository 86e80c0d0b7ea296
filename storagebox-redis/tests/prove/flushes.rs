//! A server that forgets its scripts again and again under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::cmd;
use storagebox_core::Result;
use tokio::task::JoinSet;

use crate::scene::{in_place, until};
use storagebox_testkit::workload::{Caller, Namespaces, audit, fill};

const FLUSHES: u64 = 200;
const CALLERS: usize = 16;
const ROUNDS: usize = 200;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn forgotten_scripts_are_sent_again_under_load() -> Result<()> {
    in_place(async |place| {
        let namespaces = Namespaces::of(&place.store()?)?;
        fill(&namespaces, CALLERS * ROUNDS).await?;
        let answered = Arc::new(AtomicU64::new(0));
        let mut callers = JoinSet::new();
        for number in 0..CALLERS {
            let mut caller = Caller::new(&namespaces, format!("caller-{number}"), &answered);
            callers.spawn(async move {
                for _ in 0..ROUNDS {
                    caller.round().await?;
                }
                Ok(caller)
            });
        }
        for flush in 1..=FLUSHES {
            let goal = flush * (CALLERS * ROUNDS) as u64 * 6 / FLUSHES;
            until("calls that are answered", async || Ok(answered.load(Ordering::SeqCst) >= goal)).await?;
            place.server.ask::<()>(cmd("SCRIPT").arg("FLUSH")).await?;
        }
        let callers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        audit(&namespaces, CALLERS * ROUNDS, &callers).await?;
        println!(
            "flushes: {FLUSHES} under {CALLERS} callers: {} calls answered, all rightly",
            answered.load(Ordering::SeqCst)
        );
        Ok(())
    })
    .await
}
