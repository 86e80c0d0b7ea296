//! Many at once, over two clients of one file.

use std::sync::Arc;

use storagebox_core::{Chosen, Commit, Committed, EntityChange, EntityLedger, Registered, Result};
use tokio::task::JoinSet;

use super::{commit_of, committed, entry, joined, key, message, op, payload, split, token};
use crate::support::Place;

const RACERS: usize = 16;

/// Every second racer is of another client.
fn each(ledgers: [&Arc<dyn EntityLedger>; 2]) -> impl Iterator<Item = (String, Arc<dyn EntityLedger>)> {
    let ledgers = ledgers.map(Arc::clone);
    (0..RACERS).map(move |number| (format!("racer-{number}"), Arc::clone(&ledgers[number % 2])))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_commits_to_one_version_one_is_made() -> Result<()> {
    let place = Place::ready().await?;
    let (one, other) = (split(&place.store()?)?, split(&place.store()?)?);
    for round in 0..5 {
        let opened = commit_of(&*one, "anybody").await?;
        let mut racers = JoinSet::new();
        for (name, entities) in each([&one, &other]) {
            let name = format!("{name} of {round}");
            let (message, attempt, change) = (message(&name), op(&name), EntityChange::Put(payload(&name)));
            let commit = Commit { message, attempt, change, ..opened.clone() };
            racers.spawn(async move { Ok((name, entities.commit(&commit).await?)) });
        }
        let made = racers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        let won: Vec<_> = made.iter().filter(|(_, made)| *made == Committed::Committed).collect();
        assert_eq!(won.len(), 1, "{made:?}");
        assert!(made.iter().all(|(_, made)| *made != Committed::TokenGone), "{made:?}");
        let opened = one.open(&key(), &message(&won[0].0), None).await?;
        assert_eq!((opened.state, opened.entry.is_some()), (Some(payload(&won[0].0)), true));
    }
    assert_eq!(one.pending(None, 100).await?.entries.len(), 5);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_attempts_one_is_chosen() -> Result<()> {
    let place = Place::ready().await?;
    let (one, other) = (split(&place.store()?)?, split(&place.store()?)?);
    committed(&*one, &commit_of(&*one, "a").await?).await?;
    let mut racers = JoinSet::new();
    for (name, entities) in each([&one, &other]) {
        racers.spawn(async move {
            let registered = entities.register(&entry("a"), &op(&name)).await?;
            Ok(match registered {
                Registered::Registered => entities.choose(&entry("a"), &op(&name)).await?,
                Registered::Chosen(entry) => Chosen::Chosen(entry),
                Registered::Gone => Chosen::Gone,
            })
        });
    }
    let made = racers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    let last = one.open(&key(), &message("a"), None).await?.entry.unwrap();
    assert!(last.chosen.as_ref().is_some_and(|chosen| last.attempts.contains(chosen)), "{last:?}");
    assert!(made.iter().all(|made| *made == Chosen::Chosen(last.clone())), "{made:?}, and then {last:?}");
    Ok(())
}

/// Copies of one message: one consumes the token, and only that one's tokens are created.
#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_copies_of_a_message_one_is_processed() -> Result<()> {
    let place = Place::ready().await?;
    let ((one, tokens), (other, _)) = (joined(&place.store()?)?, joined(&place.store()?)?);
    tokens.create_tokens(&[token("in")]).await?;
    let opened = Commit { consume: Some(token("in")), ..commit_of(&*one, "in").await? };
    let mut racers = JoinSet::new();
    for (name, entities) in each([&one, &other]) {
        let (out, attempt) = (token(&format!("out of {name}")), op(&name));
        let commit = Commit { attempt, create: vec![out.clone()], ..opened.clone() };
        racers.spawn(async move { Ok((out, entities.commit(&commit).await?)) });
    }
    let made = racers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    for (out, made) in &made {
        assert_eq!(tokens.exists(out).await?, *made == Committed::Committed, "{made:?}");
    }
    assert_eq!(made.iter().filter(|(_, made)| *made == Committed::Committed).count(), 1, "{made:?}");
    Ok(())
}
