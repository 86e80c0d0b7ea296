//! Commits that change tokens as well (E-8).

use std::time::Duration;

use storagebox_core::{Backend, Commit, Committed, EntityChange, ErrorKind, Result, TokenId};
use storagebox_testkit::redis::Settings;

use super::{commit_of, joined, split, token};
use crate::scene::with_place;
use crate::support::Server;

const HOUR: Duration = Duration::from_secs(3_600);

/// Upkeep forgets a token that a commit consumed, as it forgets one that a separate call consumed.
#[tokio::test]
async fn upkeep_forgets_what_a_commit_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        tokens.create_tokens(&[token("in")?]).await?;
        let commit = Commit { consume: Some(token("in")?), ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        assert_eq!(tokens.create_tokens(&[token("in")?]).await?.gone, 1);
        place.moved.advance(8 * 24 * HOUR);
        assert_eq!(place.store()?.maintain(100).await?.deleted, 1);
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

/// The tokens are on another node, which the script cannot reach.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_entities_that_join_nothing() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.store()?;
    let error = joined(&store).expect_err("a ledger that joins tokens");
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
