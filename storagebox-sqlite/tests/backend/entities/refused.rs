//! Arguments that are refused before the store is read, and the operations that errors name.

use storagebox_core::{Commit, Committed, Cursor, EntityChange, ErrorKind, Result, Version};

use super::{commit_of, entry, joined, key, message, op, payload, split, token};
use crate::support::Place;

/// A commit to an old version is a conflict even if its token is gone as well.
#[tokio::test]
async fn the_version_is_judged_before_the_token() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, _) = joined(&place.store()?)?;
    let stale = Commit {
        opened: Some(Version::new(99)),
        consume: Some(token("never created")),
        ..commit_of(&*entities, "a").await?
    };
    assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
    Ok(())
}

/// Returns a commit to an entity that does not exist.
fn unmade() -> Commit {
    Commit {
        key: key(),
        message: message("a"),
        opened: None,
        change: EntityChange::Keep,
        attempt: op("a"),
        entry: Some(payload("content")),
        consume: None,
        create: vec![],
    }
}

#[tokio::test]
async fn what_no_ledger_could_keep_is_refused() -> Result<()> {
    // There is no file, so a call that read it would return another error.
    let place = Place::bare()?;
    let store = place.store()?;
    let ((joined, _), split) = (joined(&store)?, split(&store)?);
    let commit = unmade();
    let consumes = Commit { consume: Some(token("t")), ..commit.clone() };
    let creates = Commit { create: vec![token("t")], ..commit.clone() };
    let nothing = Commit { entry: None, ..commit.clone() };
    let unsent = Commit { entry: None, ..creates.clone() };
    for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
        assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let refused = split.open(&key(), &message("a"), Some(&token("t"))).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    Ok(())
}

/// There is no file, so every call fails.
#[tokio::test]
async fn errors_name_the_call_that_failed() -> Result<()> {
    let place = Place::bare()?;
    let (entities, a) = (split(&place.store()?)?, entry("a"));
    let commit = unmade();
    for (call, error) in [
        ("open", entities.open(&a.key, &a.message, None).await.unwrap_err()),
        ("commit", entities.commit(&commit).await.unwrap_err()),
        ("register", entities.register(&a, &op("b")).await.unwrap_err()),
        ("choose", entities.choose(&a, &op("a")).await.unwrap_err()),
        ("remove", entities.remove(&a).await.unwrap_err()),
        ("pending", entities.pending(None, 1).await.unwrap_err()),
    ] {
        assert_eq!(
            (error.kind(), error.operation(), error.backend()),
            (ErrorKind::NotSetUp, Some(call), Some("sqlite"))
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_page_of_a_listing_is_refused() -> Result<()> {
    // There is no file, so a call that read it would return another error.
    let place = Place::bare()?;
    let entities = split(&place.store()?)?;
    let refused = |answer: Result<_>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidInput);
    refused(entities.pending(None, 0).await.map(drop));
    for cursor in ["", "3:x", "after:", "after:key", "after:9:key", "after:3:key", "after:1:é", "after:-1:key"] {
        refused(entities.pending(Some(&Cursor::new(cursor)), 1).await.map(drop));
    }
    Ok(())
}
