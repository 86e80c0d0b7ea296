//! Many at once, over two clients.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{
    Chosen, Commit, Committed, EntityLedger, EntryId, Key, OpId, Registered, Result, TokenId, TokenStore,
};
use tokio::task::JoinSet;

use super::{commit_of, entry, joined, key, message, op, split, token};
use crate::scene::with_place;
use crate::support::{Place, failed};

const TASKS: usize = 16;

/// Makes a call in each of the tasks, half of them with one client and half with another.
async fn at_once<T, F>(place: &Place, call: impl Fn(Arc<dyn EntityLedger>, usize) -> F) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let clients = [joined(&place.store().await?)?.0, joined(&place.store().await?)?.0];
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        tasks.spawn(call(Arc::clone(&clients[number % 2]), number));
    }
    let mut answers = vec![];
    while let Some(answer) = tasks.join_next().await {
        answers.push(answer.map_err(failed)??);
    }
    Ok(answers)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_racing_commits_to_one_version_one_is_made() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        for round in 0..5 {
            let opened = commit_of(&*entities, "opened").await?.opened;
            let answers = at_once(place, |entities, number| async move {
                let name = format!("{round}-{number}");
                let commit = Commit { opened, ..commit_of(&*entities, &name).await? };
                entities.commit(&commit).await
            });
            let answers = answers.await?;
            let made = answers.iter().filter(|answer| **answer == Committed::Committed).count();
            assert_eq!(made, 1, "round {round}: {answers:?}");
        }
        assert_eq!(entities.pending(None, 100).await?.entries.len(), 5);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_choices_agree_and_know_every_attempt() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let answers = at_once(place, |entities, number| async move {
            let attempt = op(&format!("{number}"));
            let chosen = match entities.register(&entry("a"), &attempt).await? {
                Registered::Registered => entities.choose(&entry("a"), &attempt).await?,
                Registered::Chosen(entry) => Chosen::Chosen(entry),
                Registered::Gone => Chosen::Gone,
            };
            Ok(chosen)
        });
        let answers = answers.await?;
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        let Chosen::Chosen(entry) = &answers[0] else { panic!("{answers:?}") };
        assert!(entry.chosen.is_some() && entry.attempts.contains(entry.chosen.as_ref().unwrap()));
        Ok(())
    })
    .await
}

/// The token is all that the commits have in common.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_consumed_by_one_of_racing_commits() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store().await?)?;
        tokens.create_tokens(&[token("in")]).await?;
        let answers = at_once(place, |entities, number| async move {
            let name = format!("{number}");
            let commit = Commit {
                key: Key::new(name.as_str())?,
                opened: None,
                consume: Some(token("in")),
                create: vec![token(&format!("out-{number}"))],
                ..commit_of(&*entities, &name).await?
            };
            entities.commit(&commit).await.map(|answer| (number, answer))
        });
        let answers = answers.await?;
        let made: Vec<_> = answers.iter().filter(|(_, answer)| *answer == Committed::Committed).collect();
        assert_eq!(made.len(), 1, "{answers:?}");
        assert!(answers.iter().filter(|(_, answer)| *answer == Committed::TokenGone).count() == TASKS - 1);
        for number in 0..TASKS {
            let lives = tokens.exists(&TokenId::new(format!("out-{number}"))?).await?;
            assert_eq!(lives, number == made[0].0, "{number}");
        }
        assert_eq!(entities.pending(None, 100).await?.entries.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_racing_removals_removes() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let answers = at_once(place, |entities, _| async move { entities.remove(&entry("a")).await }).await?;
        assert_eq!(answers.iter().filter(|removed| **removed).count(), 1, "{answers:?}");
        assert!(entities.open(&key(), &message("a"), None).await?.entry.is_none());
        Ok(())
    })
    .await
}

/// All entries, in small pages.
async fn listed(entities: &dyn EntityLedger) -> Result<Vec<EntryId>> {
    let (mut entries, mut cursor) = (vec![], None);
    loop {
        let page = entities.pending(cursor.as_ref(), 3).await?;
        entries.extend(page.entries);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_is_listed_once_while_others_come_and_go() -> Result<()> {
    with_place(async |place| {
        let commit = async |entities: &dyn EntityLedger, entity: usize, name: &str| {
            let (key, id) = (Key::new(format!("entity-{entity}"))?, OpId::new(name)?);
            let opened = entities.open(&key, &message(name), None).await?.version;
            let commit = Commit { key: key.clone(), opened, ..commit_of(entities, name).await? };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            Ok::<_, storagebox_core::Error>(EntryId { key, message: message(name), commit: id })
        };
        let (entities, mut staying) = (split(&place.store().await?)?, BTreeSet::new());
        for number in 0..20 {
            staying.insert(commit(&*entities, number, &format!("stays-{number}")).await?);
        }
        let staying = Arc::new(staying);
        let answers = at_once(place, |entities, number| {
            let staying = Arc::clone(&staying);
            async move {
                for round in 0..5 {
                    if number % 2 == 0 {
                        let entry = commit(&*entities, number, &format!("goes-{number}-{round}")).await?;
                        assert!(entities.remove(&entry).await?);
                    } else {
                        let found = listed(&*entities).await?;
                        let known = found.iter().filter(|entry| staying.contains(*entry)).count();
                        assert_eq!(known, staying.len(), "{found:?}");
                    }
                }
                Ok(())
            }
        });
        answers.await.map(drop)
    })
    .await
}
