//! Many callers at once, over two clients.

use std::sync::Arc;

use storagebox_core::{Commit, Committed, EntityLedger, Result};
use storagebox_testkit::checks::entities::{commit_at, commit_of, committed, joined, split, version};
use storagebox_testkit::checks::id;

use crate::scene::{blocked, in_place, patient, session, tell, until, with_place};
use crate::support::failed;

const CALLERS: usize = 16;

/// Makes the commits concurrently with two clients. Returns the answers in the order of the commits.
async fn at_once(ledgers: &[Arc<dyn EntityLedger>; 2], commits: &[Commit]) -> Result<Vec<Committed>> {
    let made = commits.iter().cloned().enumerate().map(|(number, commit)| {
        let ledger = Arc::clone(&ledgers[number % 2]);
        tokio::spawn(async move { ledger.commit(&commit).await })
    });
    let mut answers = vec![];
    for made in made.collect::<Vec<_>>() {
        answers.push(made.await.map_err(failed)??);
    }
    Ok(answers)
}

/// Each commit consumes its own token. The tokens of the refused commits stay live.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_many_racing_commits_changes_its_tokens() -> Result<()> {
    in_place(async |place| {
        let (one, tokens) = joined(&patient(place)?)?;
        let ledgers = [one, joined(&patient(place)?)?.0];
        for round in 0..5 {
            let opened = version(&*ledgers[0], "a").await?;
            let commit = |number: usize| {
                let name = format!("{round}-{number}");
                let (consume, create) =
                    (Some(id(&format!("in-{name}"))), ["a", "z"].map(|one| id(&format!("{one}-{name}"))));
                Commit { consume, create: create.to_vec(), ..commit_at(opened, &name) }
            };
            let commits: Vec<_> = (0..CALLERS).map(commit).collect();
            let given: Vec<_> = commits.iter().filter_map(|commit| commit.consume.clone()).collect();
            tokens.create_tokens(&given).await?;
            for (commit, answer) in commits.iter().zip(at_once(&ledgers, &commits).await?) {
                let is_made = answer == Committed::Committed;
                assert!(is_made || answer == Committed::Conflict, "{answer:?}");
                assert_eq!(tokens.exists(commit.consume.as_ref().expect("a token")).await?, !is_made);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn same_commit_by_many_callers_is_made_once() -> Result<()> {
    in_place(async |place| {
        let ledgers = [split(&patient(place)?)?, split(&patient(place)?)?];
        for round in 0..5 {
            let commit = commit_of(&*ledgers[0], &format!("{round}")).await?;
            let answers = at_once(&ledgers, &vec![commit; CALLERS]).await?;
            assert!(answers.iter().all(|answer| *answer == Committed::Committed));
        }
        Ok(())
    })
    .await
}

/// While the commit waits, the transaction that creates the entity either commits or rolls back.
#[test]
fn commit_waits_for_the_transaction_that_creates_the_entity() -> Result<()> {
    for (end, expected) in [("COMMIT", Committed::Conflict), ("ROLLBACK", Committed::Committed)] {
        with_place(async |place| {
            let entities = split(&patient(place)?)?;
            let other = Commit { key: id("other"), ..commit_at(None, "other") };
            committed(&*entities, &other).await?;
            let schema = &place.schema;
            let create = format!(
                "INSERT INTO {schema}.entities SELECT namespace, 'entity', 1000, NULL, now() FROM {schema}.entities"
            );
            let mut session = session(place, &create).await?;
            let ends = async {
                until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
                // Nothing disturbs the next commit of the other entity.
                let opened = entities.open(&other.key, &id("next"), None).await?.version;
                let (message, attempt) = (id("next"), id("next"));
                committed(&*entities, &Commit { opened, message, attempt, ..other.clone() }).await?;
                tell(&mut session, end).await
            };
            let (answer, ()) = tokio::try_join!(async { entities.commit(&commit_at(None, "a")).await }, ends)?;
            assert_eq!(answer, expected);
            Ok(())
        })?;
    }
    Ok(())
}
