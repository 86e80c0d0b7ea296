//! Commits that change tokens as well (E-8).

use std::time::Duration;

use storagebox_core::{Backend, Commit, EntityChange, EntityLedger, ErrorKind, Result, TokenStore};
use storagebox_testkit::checks::entities::{changed, commit_of, committed, joined, split};
use storagebox_testkit::checks::id;
use storagebox_testkit::redis::Settings;

use crate::scene::with_place;
use crate::support::Server;

const HOUR: Duration = Duration::from_secs(3_600);

/// A commit consumes one token, and a separate call consumes another token.
#[test]
fn upkeep_forgets_a_token_that_a_commit_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store()?)?;
        tokens.create_tokens(&[id("in")]).await?;
        let commit = Commit { consume: Some(id("in")), ..commit_of(&*entities, "a").await? };
        committed(&*entities, &commit).await?;
        assert_eq!(tokens.create_tokens(&[id("in")]).await?.gone, 1);
        place.moved.advance(8 * 24 * HOUR);
        assert_eq!(place.store()?.maintain(100).await?.deleted, 1);
        assert_eq!(tokens.create_tokens(&[id("in")]).await?.created, 1);
        Ok(())
    })
}

/// A script runs on one node, and the joined tokens may be on another node.
#[tokio::test(flavor = "multi_thread")]
async fn an_entity_ledger_on_a_cluster_joins_no_tokens() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.store()?;
    let error = joined(&store).expect_err("a ledger that joins tokens");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("a ledger without tokens"), "{error}");
    let entities = split(&store)?;
    let entry = changed(&*entities, "a", EntityChange::Delete, false).await?;
    assert_eq!(entities.pending(None, 10).await?.entries, std::slice::from_ref(&entry));
    assert!(entities.remove(&entry).await?);
    place.moved.advance(8 * 24 * HOUR);
    assert_eq!(store.maintain(10).await?.deleted, 1);
    Ok(())
}
