//! Commits that are dropped while they wait: each is applied completely or not at all.

use storagebox_core::{Commit, Result};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::drop_after;

use super::{commit_of, committed, joined, key, message, op, token};
use crate::support::Place;

/// Drops each commit one point later than the one before, until one completes.
async fn drop_everywhere(old: &SqliteStore, fresh: &SqliteStore) -> Result<()> {
    let ((entities, tokens), (others, _)) = (joined(old)?, joined(fresh)?);
    for waits in 0.. {
        let (name, incoming) = (format!("dropped after {waits}"), token(&format!("in {waits}")));
        let outgoing = token(&format!("out {waits}"));
        tokens.create_tokens(std::slice::from_ref(&incoming)).await?;
        let commit = Commit {
            consume: Some(incoming.clone()),
            create: vec![outgoing.clone()],
            ..commit_of(&*others, &name).await?
        };
        let is_through = drop_after(waits, Box::pin(entities.commit(&commit))).await.transpose()?.is_some();
        let opened = others.open(&key(), &message(&name), Some(&incoming)).await?;
        assert_eq!(opened.token_is_live, Some(opened.entry.is_none()), "{name}");
        committed(&*others, &commit).await?;
        let opened = others.open(&key(), &message(&name), Some(&incoming)).await?;
        assert_eq!((opened.token_is_live, opened.entry.unwrap().chosen), (Some(false), Some(op(&name))));
        assert!(tokens.exists(&outgoing).await?, "{name}");
        if is_through {
            return Ok(());
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_commit_is_made_whole_or_not_at_all() -> Result<()> {
    for combining in [true, false] {
        let place = Place::ready().await?;
        let old = place.builder().combining(combining).open(place.path())?;
        drop_everywhere(&old, &place.store()?).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_commit_leaves_a_pool_that_was_handed_in_as_it_was() -> Result<()> {
    let place = Place::ready().await?;
    drop_everywhere(&place.builder().from_pool(place.pool())?, &place.store()?).await
}
