//! A call of another caller beside an open transaction.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::Result as Answer;
use tokio::sync::oneshot;

use crate::failure::{Failure, Verdict, ensure};
use crate::harness::CallerTransaction;
use crate::progress::on_its_own;
use crate::race::answered;
use crate::world::World;

/// Makes a call beside an open transaction, and ends the transaction when the server has read the call. Fails if the
/// call is answered before that. After a retryable error, repeats the call when the transaction is over.
pub(super) async fn answered_after_the_end<T, F>(
    world: &World,
    transaction: Box<dyn CallerTransaction>,
    is_committed: bool,
    call: impl Fn() -> F + Send + Sync + 'static,
) -> Result<T, Failure>
where
    T: Debug + Send + 'static,
    F: Future<Output = Answer<T>> + Send,
{
    let ((asks, asked), (ends, is_over)) = (oneshot::channel(), oneshot::channel());
    let may_answer = Arc::<AtomicBool>::default();
    let is_ending = Arc::clone(&may_answer);
    let beside = tokio::spawn(on_its_own(async move {
        let _ = asks.send(());
        match call().await {
            Err(error) if error.is_retryable() => {
                let _ = is_over.await;
                answered(call).await
            }
            answer => {
                let (answer, is_late) = (answer?, may_answer.load(Ordering::SeqCst));
                ensure!(is_late, "a call beside an open transaction was answered {answer:?} before its end");
                Ok(answer)
            }
        }
    }));
    let _ = asked.await;
    until_the_server_has_read(world).await?;
    is_ending.store(true, Ordering::SeqCst);
    match is_committed {
        true => transaction.commit().await?,
        false => transaction.rollback().await?,
    }
    let _ = ends.send(());
    beside.await.map_err(|error| Failure::new(error.to_string()))?
}

/// Pings the server until another caller has begun its transaction, and then until the server has most likely read the
/// next request of that caller.
pub(super) async fn let_others_ask(world: &World, has_begun: &AtomicBool) -> Verdict {
    // The number of pings is limited: on a store whose transactions begin one after the other, the other transaction
    // does not begin.
    const MOST: usize = 200;
    for _ in 0..MOST {
        if has_begun.load(Ordering::Relaxed) {
            break;
        }
        ping(world).await?;
    }
    until_the_server_has_read(world).await
}

/// Pings the server so often that it has most likely read the next request of another caller.
async fn until_the_server_has_read(world: &World) -> Verdict {
    for _ in 0..10 {
        ping(world).await?;
    }
    Ok(())
}

async fn ping(world: &World) -> Verdict {
    answered(|| world.store().ping()).await?;
    tokio::task::yield_now().await;
    Ok(())
}
