//! Commits that change tokens as well (E-8).

use std::time::Duration;

use storagebox_core::{Backend, Commit, Committed, Consumed, EntityChange, ErrorKind, Joins, Result, TokenId, Version};
use storagebox_testkit::redis::Settings;

use super::{commit_of, joined, key, message, op, payload, split, token};
use crate::scene::with_place;
use crate::support::Server;

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn a_joined_commit_changes_the_tokens_or_nothing() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        tokens.create_tokens(&[token("in")?, token("other")?]).await?;
        let commit = Commit {
            consume: Some(token("in")?),
            create: vec![token("out-0")?, token("out-1")?],
            ..commit_of(&*entities, "a").await?
        };
        let stale = Commit { opened: Some(Version::new(99)), ..commit.clone() };
        assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
        let gone = Commit { consume: Some(token("never created")?), ..commit.clone() };
        assert_eq!(entities.commit(&gone).await?, Committed::TokenGone);
        assert!(tokens.exists(&token("in")?).await?);
        assert!(!tokens.exists(&token("out-0")?).await?);
        assert!(entities.open(&key()?, &message("a")?, None).await?.version.is_none());

        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        let opened = entities.open(&key()?, &message("a")?, Some(&token("in")?)).await?;
        assert_eq!(opened.token_is_live, Some(false));
        assert_eq!(opened.entry.and_then(|entry| entry.chosen), Some(op("a")?));
        assert_eq!(entities.open(&key()?, &message("a")?, Some(&token("out-0")?)).await?.token_is_live, Some(true));
        assert!(tokens.exists(&token("out-1")?).await?);
        assert_eq!(tokens.consume(&token("in")?, &op("a")?).await?, Consumed::Again);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_commit_without_an_entry_is_known_by_the_token_that_it_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        tokens.create_tokens(&[token("in")?]).await?;
        let commit = Commit { entry: None, consume: Some(token("in")?), ..commit_of(&*entities, "a").await? };
        for _ in 0..2 {
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        }
        let other = Commit { consume: Some(token("in")?), attempt: op("other")?, ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&other).await?, Committed::TokenGone);
        // What was consumed is forgotten, and so is the commit.
        place.moved.advance(8 * 24 * HOUR);
        assert_eq!(entities.commit(&commit).await?, Committed::Conflict);
        Ok(())
    })
    .await
}

/// As the tokens' own store does it: what is live or gone stays as it is, and a token that is named twice is one.
#[tokio::test]
async fn a_joined_create_changes_no_token_that_is_known() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        tokens.create_tokens(&[token("in")?, token("live")?, token("consumed")?]).await?;
        let _ = tokens.consume(&token("consumed")?, &op("before")?).await?;
        tokens.discard(&[token("discarded")?]).await?;
        let names = ["live", "consumed", "discarded", "new", "new", "in"];
        let create = names.into_iter().map(token).collect::<Result<_>>()?;
        let commit = Commit { consume: Some(token("in")?), create, ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        for (name, is_live) in [("live", true), ("consumed", false), ("discarded", false), ("new", true), ("in", false)]
        {
            assert_eq!(tokens.exists(&token(name)?).await?, is_live, "{name}");
        }
        assert_eq!(tokens.consume(&token("consumed")?, &op("before")?).await?, Consumed::Again);
        assert_eq!(tokens.create_tokens(&[token("in")?]).await?.gone, 1);
        // Upkeep forgets what a commit consumed, as it does what a call of its own did.
        place.moved.advance(8 * 24 * HOUR);
        assert_eq!(place.store()?.maintain(100).await?.deleted, 3);
        assert_eq!(tokens.create_tokens(&[token("in")?]).await?.created, 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn one_commit_creates_as_many_tokens_as_there_are() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        for count in [1, 50, 1_001, 10_000] {
            let name = count.to_string();
            let create: Vec<_> =
                (0..count).map(|number| TokenId::new(format!("{name}-{number}"))).collect::<Result<_>>()?;
            let commit = Commit { create: create.clone(), ..commit_of(&*entities, &name).await? };
            for _ in 0..2 {
                assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            }
            assert_eq!(tokens.create_tokens(&create).await?.already_live, count);
        }
        Ok(())
    })
    .await
}

/// Incoming and outgoing tokens may be of different names, or one of them elsewhere.
#[tokio::test]
async fn each_join_is_of_its_own_namespace() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let (came, goes) = (store.token_store(&"came".parse()?)?, store.token_store(&"goes".parse()?)?);
        for (number, (incoming, outgoing)) in [(true, true), (true, false), (false, true)].into_iter().enumerate() {
            let joins = Joins {
                incoming: incoming.then(|| "came".parse()).transpose()?,
                outgoing: outgoing.then(|| "goes".parse()).transpose()?,
            };
            let entities = store.entity_ledger(&"entities".parse()?, &joins)?;
            assert_eq!(entities.joins(), joins);
            let its = token(&format!("token {number}"))?;
            came.create_tokens(std::slice::from_ref(&its)).await?;
            let commit = Commit {
                consume: incoming.then(|| its.clone()),
                create: if outgoing { vec![its.clone()] } else { vec![] },
                ..commit_of(&*entities, &format!("{number}")).await?
            };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            assert_eq!((came.exists(&its).await?, goes.exists(&its).await?), (!incoming, outgoing), "{joins:?}");
        }
        Ok(())
    })
    .await
}

/// A ledger that joins tokens and one that joins none are about the same entities.
#[tokio::test]
async fn what_a_ledger_joins_is_no_option_of_its_namespace() -> Result<()> {
    with_place(async |place| {
        let (joined, _) = joined(&place.store()?)?;
        let _ = joined.commit(&commit_of(&*joined, "a").await?).await?;
        let split = split(&place.store()?)?;
        assert_eq!(split.open(&key()?, &message("a")?, None).await?.state, Some(payload("a")?));
        Ok(())
    })
    .await
}

/// The tokens are on another node, where the script does not reach.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_entities_that_join_nothing() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.store()?;
    let error = joined(&store).err().expect("a ledger that joins tokens");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("one that joins none"), "{error}");
    let entities = split(&store)?;
    let commit = Commit { change: EntityChange::Delete, ..commit_of(&*entities, "a").await? };
    assert_eq!(entities.commit(&commit).await?, Committed::Committed);
    assert_eq!(entities.pending(None, 10).await?.entries, [super::entry("a")?]);
    assert!(entities.remove(&super::entry("a")?).await?);
    place.moved.advance(8 * 24 * HOUR);
    assert_eq!(store.maintain(10).await?.deleted, 1);
    Ok(())
}
