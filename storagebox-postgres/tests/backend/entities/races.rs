//! Many callers at once, over two clients.

use std::sync::Arc;

use storagebox_core::{Backend, Commit, Committed, EntityLedger, Joins, OpId, Result, TokenId, Version};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{commit_at, commit_of, committed, joined, split, store, version};
use crate::scene::{blocked, session, tell, until, with_place};
use crate::support::Place;

const CALLERS: usize = 16;

/// Makes these calls at once, alternating between two ledgers. Returns the answers in the order of the calls.
async fn at_once<T, F>(
    ledgers: [Arc<dyn EntityLedger>; 2],
    call: impl Fn(Arc<dyn EntityLedger>, usize) -> F,
) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let (barrier, mut callers) = (Arc::new(Barrier::new(CALLERS)), JoinSet::new());
    for number in 0..CALLERS {
        let (barrier, call) = (Arc::clone(&barrier), call(Arc::clone(&ledgers[number % 2]), number));
        callers.spawn(async move {
            barrier.wait().await;
            Ok((number, call.await?))
        });
    }
    let mut answers = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn ledgers(place: &Place, joins: &Joins) -> Result<[Arc<dyn EntityLedger>; 2]> {
    let ledger = || store(place)?.entity_ledger(&"entities".parse()?, joins);
    Ok([ledger()?, ledger()?])
}

/// Each commit has its own token. A commit that is not made leaves its token.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_joined_commits_one_changes_its_tokens() -> Result<()> {
    with_place(async |place| {
        let (one, tokens) = joined(&store(place)?)?;
        let ledgers = [one, joined(&store(place)?)?.0];
        let given = |round: usize, number: usize| TokenId::new(format!("in-{round}-{number}"));
        for round in 0..5 {
            let all = (0..CALLERS).map(|number| given(round, number)).collect::<Result<Vec<_>>>()?;
            tokens.create_tokens(&all).await?;
            let opened = version(&*ledgers[0], "a").await?;
            let commit = |number: usize| {
                let name = format!("{round}-{number}");
                let create = vec![TokenId::new(format!("a-{name}"))?, TokenId::new(format!("z-{name}"))?];
                Ok::<_, storagebox_core::Error>(Commit {
                    consume: Some(given(round, number)?),
                    create,
                    ..commit_at(opened, &name)?
                })
            };
            let answers = at_once(ledgers.clone(), |ledger, number| {
                let commit = commit(number);
                async move { ledger.commit(&commit?).await }
            });
            for (number, answer) in answers.await?.into_iter().enumerate() {
                let (is_made, commit) = (answer == Committed::Committed, commit(number)?);
                assert!(is_made || answer == Committed::Conflict, "{answer:?}");
                assert_eq!(tokens.exists(&all[number]).await?, !is_made);
                for created in &commit.create {
                    assert_eq!(tokens.exists(created).await?, is_made);
                }
            }
        }
        assert_eq!(ledgers[0].pending(None, 1_000).await?.entries.len(), 5, "one a round");
        Ok(())
    })
    .await
}

/// The same commit many times at once is one commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_that_is_made_by_many_is_made_once() -> Result<()> {
    with_place(async |place| {
        let ledgers = ledgers(place, &Joins::default())?;
        for round in 0..5 {
            let commit = commit_of(&*ledgers[0], &format!("{round}")).await?;
            let answers = at_once(ledgers.clone(), |ledger, _| {
                let commit = commit.clone();
                async move { ledger.commit(&commit).await }
            });
            assert!(answers.await?.iter().all(|answer| *answer == Committed::Committed));
        }
        Ok(())
    })
    .await
}

/// A transaction that has not ended yet creates the entity, and then commits or rolls back.
#[tokio::test]
async fn a_commit_waits_for_whoever_creates_the_entity() -> Result<()> {
    for (end, expected) in [("COMMIT", Committed::Conflict), ("ROLLBACK", Committed::Committed)] {
        with_place(async |place| {
            let entities = split(&store(place)?)?;
            let other = Commit { key: "other".try_into()?, ..commit_at(None, "other")? };
            committed(&*entities, &other).await?;
            let schema = &place.schema;
            let create = format!(
                "INSERT INTO {schema}.entities SELECT namespace, 'entity', 1000, NULL, now() FROM {schema}.entities"
            );
            let mut session = session(place, &create).await?;
            let ends = async {
                until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
                committed(&*entities, &Commit { opened: entities_version(&*entities).await?, ..next(&other)? }).await?;
                tell(&mut session, end).await
            };
            let (answer, ()) = tokio::try_join!(async { entities.commit(&commit_at(None, "a")?).await }, ends)?;
            assert_eq!(answer, expected);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Returns the next commit of the other entity, which no transaction disturbs.
fn next(commit: &Commit) -> Result<Commit> {
    Ok(Commit { message: "next".try_into()?, attempt: OpId::new("next")?, ..commit.clone() })
}

async fn entities_version(entities: &dyn EntityLedger) -> Result<Option<Version>> {
    Ok(entities.open(&"other".try_into()?, &"next".try_into()?, None).await?.version)
}
