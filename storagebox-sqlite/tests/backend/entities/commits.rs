//! What a commit changes, and what it leaves as it is.

use storagebox_core::{Commit, Committed, Consumed, EntityChange, ErrorKind, Result, Version};

use super::{commit_of, committed, entry, joined, key, message, op, payload, split, token};
use crate::support::Place;

#[tokio::test]
async fn of_commits_to_one_version_one_is_made() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    for (first, second) in [("a", "b"), ("c", "d")] {
        let (first, second) = (commit_of(&*entities, first).await?, commit_of(&*entities, second).await?);
        committed(&*entities, &first).await?;
        assert_eq!(entities.commit(&second).await?, Committed::Conflict);
        committed(&*entities, &first).await?;
    }
    assert_eq!(entities.open(&key(), &message("c"), None).await?.state, Some(payload("c")));
    assert!(entities.open(&key(), &message("d"), None).await?.entry.is_none());
    Ok(())
}

/// Its version is right, because whoever made it has seen the entry.
#[tokio::test]
async fn no_commit_replaces_the_entry_of_another() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, tokens) = joined(&place.store()?)?;
    tokens.create_tokens(&[token("in")]).await?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    let before = entities.open(&key(), &message("a"), Some(&token("in"))).await?;
    let other = Commit { attempt: op("other"), consume: Some(token("in")), ..commit_of(&*entities, "a").await? };
    assert_eq!(entities.commit(&other).await?, Committed::Conflict);
    assert_eq!(entities.commit(&Commit { entry: None, ..other }).await?, Committed::Conflict);
    assert_eq!(entities.open(&key(), &message("a"), Some(&token("in"))).await?, before);
    Ok(())
}

#[tokio::test]
async fn a_state_is_put_kept_and_deleted() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let changes = [
        ("kept before it was put", EntityChange::Keep, None),
        ("put", EntityChange::Put(payload("state")), Some("state")),
        ("kept", EntityChange::Keep, Some("state")),
        ("empty", EntityChange::Put(payload("")), Some("")),
        ("deleted", EntityChange::Delete, None),
        ("kept after that", EntityChange::Keep, None),
    ];
    for (name, change, state) in changes {
        committed(&*entities, &Commit { change, ..commit_of(&*entities, name).await? }).await?;
        let opened = entities.open(&key(), &message(name), None).await?;
        assert_eq!((opened.state, opened.token_is_live), (state.map(payload), None), "{name}");
    }
    assert_eq!(entities.pending(None, 10).await?.entries.len(), 6, "no commit changes another entry");
    Ok(())
}

#[tokio::test]
async fn a_joined_commit_changes_the_tokens_or_nothing() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, tokens) = joined(&place.store()?)?;
    tokens.create_tokens(&[token("in"), token("other")]).await?;
    let joined = Commit {
        consume: Some(token("in")),
        create: vec![token("out-0"), token("out-1")],
        ..commit_of(&*entities, "a").await?
    };
    let stale = Commit { opened: Some(Version::new(u64::MAX)), ..joined.clone() };
    assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
    let gone = Commit { consume: Some(token("never created")), ..joined.clone() };
    assert_eq!(entities.commit(&gone).await?, Committed::TokenGone);
    assert!(tokens.exists(&token("in")).await?);
    assert!(!tokens.exists(&token("out-0")).await?);
    let opened = entities.open(&key(), &message("a"), Some(&token("in"))).await?;
    assert_eq!((opened.version, opened.entry, opened.token_is_live), (None, None, Some(true)));

    committed(&*entities, &joined).await?;
    let opened = entities.open(&key(), &message("a"), Some(&token("in"))).await?;
    assert_eq!((opened.token_is_live, opened.entry.unwrap().chosen), (Some(false), Some(op("a"))));
    assert!(tokens.exists(&token("out-1")).await?);
    assert_eq!(tokens.consume(&token("in"), &op("a")).await?, Consumed::Again);
    assert_eq!(tokens.consume(&token("other"), &op("b")).await?, Consumed::Now);
    Ok(())
}

/// A stale commit is one whose version is gone, also if its token is gone as well.
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

/// The same rows as those of the token store, with its fences.
#[tokio::test]
async fn a_joined_commit_does_not_bring_a_token_back() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, tokens) = joined(&place.store()?)?;
    tokens.create_tokens(&[token("live"), token("consumed")]).await?;
    assert_eq!(tokens.consume(&token("consumed"), &op("other")).await?, Consumed::Now);
    tokens.discard(&[token("discarded")]).await?;
    let names = ["live", "consumed", "discarded", "new", "new"];
    let commit = Commit { create: names.map(token).to_vec(), ..commit_of(&*entities, "a").await? };
    committed(&*entities, &commit).await?;
    for (name, lives) in [("live", true), ("consumed", false), ("discarded", false), ("new", true)] {
        assert_eq!(tokens.exists(&token(name)).await?, lives, "{name}");
    }
    assert_eq!(tokens.consume(&token("consumed"), &op("other")).await?, Consumed::Again);
    Ok(())
}

#[tokio::test]
async fn a_commit_without_an_entry_is_known_by_the_token_that_it_consumed() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, tokens) = joined(&place.store()?)?;
    tokens.create_tokens(&[token("in")]).await?;
    let commit = Commit { entry: None, consume: Some(token("in")), ..commit_of(&*entities, "a").await? };
    committed(&*entities, &commit).await?;
    let version = entities.open(&key(), &message("a"), None).await?.version;
    committed(&*entities, &commit).await?;
    assert_eq!(entities.open(&key(), &message("a"), None).await?.version, version, "it was made once");
    let other = Commit { attempt: op("other"), opened: version, ..commit };
    assert_eq!(entities.commit(&other).await?, Committed::TokenGone);
    Ok(())
}

/// After its entry was removed, nothing tells a commit that consumed no token from one that came too late.
#[tokio::test]
async fn a_repetition_after_the_end_is_a_conflict() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let commit = Commit { change: EntityChange::Keep, ..commit_of(&*entities, "a").await? };
    committed(&*entities, &commit).await?;
    assert!(entities.remove(&entry("a")).await?);
    assert_eq!(entities.commit(&commit).await?, Committed::Conflict);
    Ok(())
}

/// A commit of an entity that nobody has opened.
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
    // There is no file: it is refused before anybody looks.
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

/// What a ledger joins is no option of its namespace.
#[tokio::test]
async fn a_ledger_of_one_form_finishes_what_another_began() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.store()?;
    let ((joined, tokens), split) = (joined(&store)?, split(&store)?);
    tokens.create_tokens(&[token("in")]).await?;
    let commit = Commit { consume: Some(token("in")), ..commit_of(&*joined, "a").await? };
    committed(&*joined, &commit).await?;
    assert_eq!(split.open(&key(), &message("a"), None).await?.state, Some(payload("a")));
    assert!(split.remove(&entry("a")).await?);
    assert_eq!((joined.joins().incoming.is_some(), split.joins().incoming.is_some()), (true, false));
    Ok(())
}

/// There is no file, so none can succeed.
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
