//! The processor on the store. Its promises depend on every clause of entities and tokens together.

mod endpoint;

use std::sync::Arc;

use fastrand::Rng;
use storagebox_core::{Backend, Message, Outcome};

use self::endpoint::{Endpoint, OUTPUTS, Plan};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Link, drop_after};
use crate::race::race;
use crate::world::World;

pub(super) async fn nothing_is_left_of_a_finished_message(world: &World) -> Verdict {
    nothing_is_left(world, Plan::Split).await
}

pub(super) async fn nothing_is_left_of_a_message_of_a_joined_ledger(world: &World) -> Verdict {
    nothing_is_left(world, Plan::Joined).await
}

async fn nothing_is_left(world: &World, plan: Plan) -> Verdict {
    let endpoint = Endpoint::on(world.store(), plan)?;
    for number in 0..6 {
        let message = endpoint.message("entity", number).await?;
        let sent = number % OUTPUTS;
        let outcome = endpoint.processed(&message).await?;
        let is_exact = !world.loses_answers();
        ensure!(!is_exact || outcome == Outcome::Processed { sent }, "the outcome of a new message is {outcome:?}");
        endpoint.ensure_finished(&message).await?;
        let again = endpoint.processed(&message).await?;
        ensure_matches!(again, Outcome::Duplicate { cleaned: false }, "the outcome of a copy");
    }
    endpoint.ensure_once("entity", 0..6).await
}

/// Several workers with their own clients process copies of the same messages, and every message takes effect once.
pub(super) async fn racing_copies_take_effect_once(world: &World) -> Verdict {
    let mine = Endpoint::on(world.store(), Plan::Split)?;
    let other = mine.beside(&world.client().await?)?;
    for round in 0..world.profile().rounds {
        let entity = format!("entity-{round}");
        let mut messages = vec![];
        for number in 0..4 {
            messages.push(mine.message(&entity, number).await?);
        }
        let messages = Arc::new(messages);
        race(8, |worker| {
            let (endpoint, messages) = (if worker % 2 == 0 { mine.clone() } else { other.clone() }, messages.clone());
            async move {
                for turn in 0..messages.len() {
                    let _ = endpoint.processed(&messages[(turn + worker) % messages.len()]).await?;
                }
                Ok(())
            }
        })
        .await?;
        for message in messages.iter() {
            mine.ensure_finished(message).await?;
        }
        mine.ensure_once(&entity, 0..4).await?;
    }
    Ok(())
}

/// After a failure, a dispatcher sends the message again with the same token. The token exists before the message is
/// sent.
pub(super) async fn what_is_sent_again_carries_the_same_token(world: &World) -> Verdict {
    let near = Endpoint::on(world.store(), Plan::Split)?;
    for round in 0..world.profile().rounds {
        let far = near.clone().with_failing_dispatch(world.rng().u64(..));
        let entity = format!("entity-{round}");
        for number in 0..6 {
            let message = near.message(&entity, number).await?;
            let _ = far.processed(&message).await?;
            near.ensure_finished(&message).await?;
        }
        near.ensure_once(&entity, 0..6).await?;
    }
    Ok(())
}

pub(super) async fn random_faults_take_effect_once(world: &World) -> Verdict {
    random_faults(world, Plan::Split).await
}

pub(super) async fn random_faults_of_a_joined_ledger_take_effect_once(world: &World) -> Verdict {
    random_faults(world, Plan::Joined).await
}

/// Processes messages under random faults of the connection and the dispatcher. Repeats each message until it is
/// answered, and once more afterwards.
async fn random_faults(world: &World, plan: Plan) -> Verdict {
    let (near, mut rng) = (Endpoint::on(world.store(), plan)?, world.rng());
    for round in 0..world.profile().rounds {
        let (entity, link) = (format!("entity-{round}"), Link::random(rng.u64(..), 25));
        let linked: Arc<dyn Backend> = link.before_store(world.store());
        let far = near.beside(&linked)?.with_failing_dispatch(rng.u64(..));
        let mut messages = vec![];
        for number in 0..6 {
            messages.push(near.message(&entity, number).await?);
        }
        until_all_are_answered(&far, &link, &messages, &mut rng).await?;
        link.heal();
        link.land().await;
        for message in &messages {
            let _ = near.processed(message).await?;
        }
        near.sweep().await?;
        for message in &messages {
            near.ensure_finished(message).await?;
        }
        near.ensure_once(&entity, 0..6).await.map_err(|failure| failure.during(format!("round {round}")))?;
    }
    Ok(())
}

async fn until_all_are_answered(far: &Endpoint, link: &Link, messages: &[Message], rng: &mut Rng) -> Verdict {
    let mut waiting: Vec<_> = messages.iter().collect();
    for _ in 0..10_000 {
        if waiting.is_empty() {
            return Ok(());
        }
        let at = rng.usize(..waiting.len());
        if far.process(waiting[at]).await?.is_some() {
            waiting.swap_remove(at);
        }
        if rng.u8(..6) == 0 {
            link.land().await;
        }
    }
    Err(Failure::new("a message has no answer after 10,000 calls"))
}

/// A call that is dropped at any await point is finished by the next copy of its message in another process, or by a
/// sweep.
pub(super) async fn a_call_that_is_dropped_anywhere_is_finished_by_the_next(world: &World) -> Verdict {
    let near = Endpoint::on(&world.client().await?, Plan::Split)?;
    let gated: Arc<dyn Backend> = Link::gated().before_store(world.store());
    let far = near.beside(&gated)?;
    let mut point = 0;
    loop {
        let message = near.message(&format!("entity-{point}"), 2).await?;
        let answered = drop_after(far.process(&message), point).await.transpose()?;
        let was_begun = near.entry_of(&message).await?;
        if point % 2 == 0 && was_begun {
            near.sweep().await?;
        } else {
            let _ = near.processed(&message).await?;
        }
        // The dropped call may have landed after the sweep.
        let _ = near.processed(&message).await?;
        near.ensure_finished(&message).await?;
        near.ensure_once(&format!("entity-{point}"), 2..3).await?;
        if answered.is_some() {
            break;
        }
        point += 1;
    }
    ensure!(point >= 10, "a message was dropped at only {point} points");
    ensure_eq!(near.pending().await?, 0, "entries that are left");
    Ok(())
}
