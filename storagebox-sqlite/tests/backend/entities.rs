//! Entities and their entries (E-1 to E-8): the behaviour that is specific to this backend.

mod damage;
mod memory;

use storagebox_core::{Commit, Committed, Result, Version};
use storagebox_testkit::checks::entities::{self, commit_of, joined};
use storagebox_testkit::checks::{id, processor};

use crate::support::Place;

/// Two clients on one file process copies of a message concurrently.
#[tokio::test(flavor = "multi_thread")]
async fn racing_copies_of_a_message_take_effect_once() -> Result<()> {
    let place = Place::ready().await?;
    processor::racing_copies_take_effect_once([&place.store()?, &place.store()?]).await
}

#[tokio::test]
async fn one_commit_creates_twelve_thousand_tokens() -> Result<()> {
    let place = Place::ready().await?;
    entities::creates_tokens(&place.store()?, &[1, 50, 12_000]).await
}

#[tokio::test]
async fn an_invalid_call_is_refused_before_the_file_is_opened() -> Result<()> {
    entities::refuses_before_it_asks(&Place::bare()?.store()?, &entities::CURSORS).await
}

/// A commit with a wrong version is a conflict, even if its token does not exist.
#[tokio::test]
async fn a_commit_checks_the_version_before_the_token() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, _) = joined(&place.store()?)?;
    let (opened, consume) = (Some(Version::new(99)), Some(id("never created")));
    let stale = Commit { opened, consume, ..commit_of(&*entities, "a").await? };
    assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
    Ok(())
}
