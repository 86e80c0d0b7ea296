//! Calls that come at once, from two clients.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{
    Chosen, Commit, Committed, Consumed, EntityLedger, EntryId, OpId, OutboxEntry, Registered, Result,
};

use super::{commit_of, entry, joined, key, message, op, split, token};
use crate::scene::{at_once, with_place};
use crate::support::{Place, failed};

const TASKS: usize = 16;

/// For each task one of two clients' ledgers.
fn ledgers(place: &Place) -> Result<impl Iterator<Item = (usize, Arc<dyn EntityLedger>)> + use<>> {
    let clients = [split(&place.store()?)?, split(&place.store()?)?];
    Ok((0..TASKS).map(move |task| (task, Arc::clone(&clients[task % 2]))))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_commits_to_one_version_one_is_made() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for round in 0..20 {
            let commit = commit_of(&*entities, "a").await?;
            let commits = ledgers(place)?.map(|(task, ledger)| {
                let (attempt, message) = (op(&format!("{round}-{task}"))?, message(&format!("{round}-{task}"))?);
                let commit = Commit { attempt, message, ..commit.clone() };
                Ok(async move { ledger.commit(&commit).await })
            });
            let made = at_once(commits.collect::<Result<Vec<_>>>()?).await?;
            let made = made.into_iter().filter(|made| *made == Committed::Committed).count();
            assert_eq!((made, entities.pending(None, 100).await?.entries.len()), (1, round + 1));
        }
        Ok(())
    })
    .await
}

/// The entry, once an attempt is chosen in it: this one, unless another one is.
async fn registered_and_chosen(ledger: Arc<dyn EntityLedger>, entry: EntryId, attempt: OpId) -> Result<OutboxEntry> {
    match ledger.register(&entry, &attempt).await? {
        Registered::Chosen(chosen) => return Ok(chosen),
        Registered::Registered => {}
        Registered::Gone => return Err(failed("no entry")),
    }
    match ledger.choose(&entry, &attempt).await? {
        Chosen::Chosen(chosen) => Ok(chosen),
        Chosen::Gone => Err(failed("no entry")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_attempts_one_is_chosen() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for round in 0..20 {
            let name = format!("{round}");
            let _ = entities.commit(&commit_of(&*entities, &name).await?).await?;
            let entry = entry(&name)?;
            let choices = ledgers(place)?.map(|(task, ledger)| {
                let attempt = op(&format!("attempt {task}"))?;
                Ok(registered_and_chosen(ledger, entry.clone(), attempt))
            });
            let found = at_once(choices.collect::<Result<Vec<_>>>()?).await?;
            let found: BTreeSet<_> = found.into_iter().map(|entry| entry.chosen).collect();
            assert_eq!(found.len(), 1, "{found:?}");
            let whole = entities.open(&key()?, &entry.message, None).await?.entry.ok_or_else(|| failed("no entry"))?;
            assert!(found.contains(&whole.chosen) && whole.attempts.len() > 1, "{whole:?}");
            let distinct: BTreeSet<_> = whole.attempts.iter().collect();
            assert_eq!(distinct.len(), whole.attempts.len());
        }
        Ok(())
    })
    .await
}

/// Copies of one message, and a consumer past the ledger: one of all has the token.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_that_want_a_token_one_has_it() -> Result<()> {
    with_place(async |place| {
        let ((one, tokens), (other, _)) = (joined(&place.store()?)?, joined(&place.store()?)?);
        for round in 0..20 {
            let its = token(&format!("{round}"))?;
            tokens.create_tokens(std::slice::from_ref(&its)).await?;
            let before = commit_of(&*one, &format!("{round}")).await?;
            let commits = (0..TASKS).map(|task| {
                let ledger = Arc::clone(if task % 2 == 0 { &one } else { &other });
                let attempt = op(&format!("{round}-{task}"))?;
                let create = vec![token(&format!("out {round}-{task}"))?];
                let commit = Commit { attempt, consume: Some(its.clone()), create, ..before.clone() };
                let (tokens, its) = (Arc::clone(&tokens), its.clone());
                Ok(async move {
                    match task {
                        0 => Ok(tokens.consume(&its, &commit.attempt).await? == Consumed::Now),
                        _ => Ok(ledger.commit(&commit).await? == Committed::Committed),
                    }
                })
            });
            let had = at_once(commits.collect::<Result<Vec<_>>>()?).await?;
            assert_eq!(had.iter().filter(|had| **had).count(), 1, "{had:?}");
        }
        for entry in one.pending(None, 100).await?.entries {
            assert!(tokens.exists(&token(&format!("out {}", entry.commit))?).await?, "{entry:?}");
        }
        Ok(())
    })
    .await
}
