//! Many concurrent callers.

use std::sync::Arc;

use storagebox_core::{Committed, EntityChange, EntityLedger, OpId, Registered};

use super::{Messaged, choice, entities_of, op, payload, split};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::{SIZES, answered, race};
use crate::world::World;

/// Returns the ledgers of two clients: one for callers with even numbers, one for callers with odd numbers.
async fn two_clients(world: &World) -> Result<[Arc<dyn EntityLedger>; 2], Failure> {
    Ok([split(world)?, entities_of(&world.client().await?)?])
}

pub(super) async fn of_racing_commits_one_is_made(world: &World) -> Verdict {
    let clients = two_clients(world).await?;
    let entities = Arc::clone(&clients[0]);
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let entity = format!("{round}-{size}");
            // The first race creates the entity, the second changes it.
            for turn in ["create", "change"] {
                let opened = Messaged::new(&entity, "look")?.open(&*entities).await?.version;
                let answers = race(size, |number| {
                    let (entities, entity) = (Arc::clone(&clients[number % 2]), entity.clone());
                    async move {
                        let one = Messaged::new(&entity, &format!("{turn}-{number}"))?;
                        let mut commit = one.commit(&*entities).await?;
                        commit.opened = opened;
                        let made = answered(|| entities.commit(&commit)).await?;
                        Ok((made == Committed::Committed, one))
                    }
                })
                .await?;
                let winners: Vec<_> = answers.iter().filter(|(made, _)| *made).collect();
                ensure_eq!(winners.len(), 1, "commits of {size} to one version that were made");
                for (made, one) in &answers {
                    let opened = one.open(&*entities).await?;
                    ensure_eq!(opened.entry.is_some(), *made, "whether a commit's entry is there");
                    ensure_eq!(opened.state, Some(payload(winners[0].1.name())?), "the state is the winner's");
                }
            }
        }
    }
    Ok(())
}

/// Concurrent callers each open the entity and commit their own message, and repeat both calls until the commit
/// succeeds. The final state counts each message once.
pub(super) async fn racing_messages_all_change_the_entity_once(world: &World) -> Verdict {
    let entities = split(world)?;
    for round in 0..world.profile().rounds {
        let entity = format!("round-{round}");
        race(24, |number| {
            let (entities, entity) = (Arc::clone(&entities), entity.clone());
            async move { count_one(&*entities, &Messaged::new(&entity, &format!("message-{number}"))?).await }
        })
        .await?;
        let state = Messaged::new(&entity, "look")?.open(&*entities).await?.state;
        ensure_eq!(state, Some(payload("24")?), "what 24 messages counted");
    }
    Ok(())
}

async fn count_one(entities: &dyn EntityLedger, one: &Messaged) -> Verdict {
    for attempt in 0.. {
        let opened = one.open(entities).await?;
        let counted = opened.state.as_ref().map_or(Ok(0), |state| number(state.as_bytes()))?;
        let mut commit = one.commit(entities).await?;
        commit.opened = opened.version;
        commit.attempt = op(format!("{}-{attempt}", one.name()))?;
        commit.change = EntityChange::Put(payload(&(counted + 1).to_string())?);
        if answered(|| entities.commit(&commit)).await? == Committed::Committed {
            return Ok(());
        }
    }
    Ok(())
}

fn number(state: &[u8]) -> Result<u64, Failure> {
    let text = std::str::from_utf8(state).ok().and_then(|text| text.parse().ok());
    text.ok_or_else(|| Failure::new(format!("a state that no commit stored: {state:?}")))
}

/// Runs several races for each number of callers in `SIZES`, each race on one new entry. Returns the message and the
/// answers of each race.
async fn races_for_an_entry<T, Fut>(
    world: &World,
    call: impl Fn(Arc<dyn EntityLedger>, Messaged, usize) -> Fut + Send + Sync,
) -> Result<Vec<(Messaged, Vec<T>)>, Failure>
where
    T: Send + 'static,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let (clients, mut races) = (two_clients(world).await?, vec![]);
    let entities = &clients[0];
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let one = Messaged::new(&format!("{round}-{size}"), "message")?;
            let commit = one.commit(&**entities).await?;
            let _ = answered(|| entities.commit(&commit)).await?;
            let answers = race(size, |number| call(Arc::clone(&clients[number % 2]), one.clone(), number)).await?;
            races.push((one, answers));
        }
    }
    Ok(races)
}

/// Registers and chooses the caller's attempt. Returns the attempt, whether it was registered, and the chosen attempt
/// and all attempts of the entry.
async fn register_and_choose(
    entities: &dyn EntityLedger,
    one: &Messaged,
    number: usize,
) -> Result<(OpId, bool, Option<OpId>, Vec<OpId>), Failure> {
    let (entry, attempt) = (one.entry()?, op(format!("attempt-{number}"))?);
    let (is_registered, chosen, attempts) = match answered(|| entities.register(&entry, &attempt)).await? {
        Registered::Gone => return Err(Failure::new("an entry that no caller removed is gone")),
        Registered::Chosen(entry) => (false, entry.chosen, entry.attempts),
        Registered::Registered => {
            let chosen = choice(answered(|| entities.choose(&entry, &attempt)).await?);
            let (chosen, attempts) = chosen.ok_or_else(|| Failure::new("a registered attempt is gone"))?;
            (true, chosen, attempts)
        }
    };
    Ok((attempt, is_registered, chosen, attempts))
}

pub(super) async fn racing_choices_agree(world: &World) -> Verdict {
    let chosen = races_for_an_entry(world, |entities, one, number| async move {
        register_and_choose(&*entities, &one, number).await
    });
    for (one, answers) in chosen.await? {
        let first = answers[0].2.clone();
        ensure!(first.is_some(), "nothing is chosen in the entry of {one:?}");
        for (attempt, _, chosen, _) in &answers {
            ensure_eq!(chosen, &first, "the chosen attempt in the answer to {attempt:?}");
        }
    }
    Ok(())
}

pub(super) async fn who_chooses_sees_every_attempt(world: &World) -> Verdict {
    let chosen = races_for_an_entry(world, |entities, one, number| async move {
        register_and_choose(&*entities, &one, number).await
    });
    for (_, answers) in chosen.await? {
        let registered = answers.iter().filter(|(_, is_registered, ..)| *is_registered);
        for (attempt, ..) in registered {
            for (_, _, _, attempts) in &answers {
                ensure!(attempts.contains(attempt), "{attempt:?} was registered, and is not in {attempts:?}");
            }
        }
    }
    Ok(())
}

pub(super) async fn racing_removals_remove_once(world: &World) -> Verdict {
    let removed = races_for_an_entry(world, |entities, one, _| async move {
        let entry = one.entry()?;
        answered(|| entities.remove(&entry)).await
    });
    let exact = !world.loses_answers();
    for (_, answers) in removed.await? {
        let removed = answers.iter().filter(|removed| **removed).count();
        ensure!(removed == 1 || (!exact && removed == 0), "{removed} of {} calls removed one entry", answers.len());
    }
    Ok(())
}
