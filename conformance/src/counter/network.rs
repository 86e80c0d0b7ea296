//! Cut connections.

use std::pin::pin;
use std::time::Duration;

use storagebox_core::{Bounds, Certainty, Counted, Result, Retry};

use super::calls::calls;
use super::subject::HOUR;
use super::{Kind, Subject};
use crate::errors::Counting;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::proxy::Cut;
use crate::repeatable::{Clients, MOST_REQUESTS, cut_everywhere};
use crate::world::World;

pub(super) async fn a_cut_connection_counts_once(world: &World, kind: Kind) -> Verdict {
    cut_everywhere(world, &calls(kind)).await
}

/// A change whose connection is cut is repeated while the error is retryable, and counts at most once. If the last
/// attempt fails, the error says that the outcome is unknown, or that nothing was done if that is true.
pub(super) async fn a_cut_change_is_not_repeated_in_doubt(world: &World, kind: Kind) -> Verdict {
    let clients = Clients::of(world).await?;
    for cut in [Cut::RequestLost, Cut::HalfRequest, Cut::ReplyLost, Cut::HalfReply] {
        for passing in 0..MOST_REQUESTS {
            let key = format!("key-{cut:?}-{passing}");
            let was_cut = change_while_cut(&clients, kind, &key, cut, passing)
                .await
                .map_err(|failure| failure.during(format!("at request {passing} whose fate is {cut:?}")))?;
            if !was_cut {
                ensure!(
                    passing > 0,
                    "nothing was cut: no request of a change held its key in the form of `on_the_wire`"
                );
                break;
            }
        }
    }
    Ok(())
}

/// How long the store remembers an operation: less than the time for which the client cannot reach the server.
const BRIEF: Duration = Duration::from_millis(400);

/// Neither a client nor a layer repeats a change with a lost reply after the server may have forgotten the operation.
pub(super) async fn a_lost_change_is_not_repeated_once_it_is_forgotten(world: &World, kind: Kind) -> Verdict {
    for passing in 0..MOST_REQUESTS {
        let was_cut = change_until_forgotten(world, kind, passing)
            .await
            .map_err(|failure| failure.during(format!("at request {passing}")))?;
        if !was_cut {
            break;
        }
    }
    Ok(())
}

/// Makes a change that loses the reply to its request `passing` and cannot be repeated until it is forgotten. Returns
/// whether there was such a request.
async fn change_until_forgotten(world: &World, kind: Kind, passing: usize) -> Result<bool, Failure> {
    let clients = Clients::of(world).await?;
    let key = format!("key-{passing}");
    let open = |store| Subject::open(store, kind.strategy(Bounds::NONE, BRIEF), Bounds::NONE)?.at(key.as_str());
    let (far, fresh) = (open(&clients.far)?, open(&clients.fresh)?);
    // The first change opens the namespace; its result does not matter.
    let _ = far.attempt("before", 1).await;
    clients.lose_reply(&key, passing, 10 * BRIEF);
    let time_passes = async {
        clients.cut().await;
        if world.can_travel() {
            world.pass(HOUR).await;
        }
    };
    let mut attempt = pin!(far.attempt("op", 100));
    // The attempt ends first if none of its requests could be cut.
    let answer = tokio::select! {
        answer = &mut attempt => answer,
        () = time_passes => attempt.await,
    };
    let was_cut = clients.was_cut();
    // A request that is still in flight arrives before this one.
    far.value().await?;
    let value = fresh.value().await?;
    ensure!(value < 200, "a change of 100 was answered {answer:?} and led to {value}");
    ensure!(answer.is_err() || value >= 100, "a change of 100 was answered {answer:?}, and the value is {value}");
    Ok(was_cut)
}

async fn change_while_cut(
    clients: &Clients<'_>,
    kind: Kind,
    key: &str,
    cut: Cut,
    passing: usize,
) -> Result<bool, Failure> {
    let open = |store| Subject::open(store, kind.strategy(Bounds::NONE, HOUR), Bounds::NONE)?.at(key);
    let (far, fresh) = (open(&clients.far)?, open(&clients.fresh)?);
    let at_once = Retry { first_delay: Duration::ZERO, max_delay: Duration::ZERO, ..Retry::default() };
    let _ = fresh.apply("before", 1).await?;
    clients.arm(cut, key, passing);
    let answer = at_once.call(&Counting::default(), |attempt| far.attempt_as(attempt, "op", 2)).await;
    let was_cut = clients.was_cut();
    judge(answer, was_cut, fresh.value().await?)?;
    Ok(was_cut)
}

fn judge(answer: Result<Counted>, was_cut: bool, value: i64) -> Verdict {
    match answer {
        Ok(Counted::Applied { .. } | Counted::AlreadyApplied { .. }) => ensure_eq!(value, 3, "the value"),
        Ok(other) => ensure!(false, "the change was answered {other:?}"),
        Err(error) => {
            ensure!(was_cut, "a change that was not cut failed: {error}");
            if error.certainty() == Certainty::NotApplied {
                // A backend may know that, if each attempt was cut before it sent what changes something.
                ensure_eq!(value, 1, "the value after {error}");
                return Ok(());
            }
            ensure!(!error.is_retryable(), "{error} is retryable");
            ensure!([1, 3].contains(&value), "the value is {value} after a change of 2 on 1");
        }
    }
    Ok(())
}
