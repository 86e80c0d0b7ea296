//! The largest contents, and many tokens.

use storagebox_core::{Commit, EntityChange, MAX_PAYLOAD_BYTES, Payload, Result, TokenId};

use super::{commit_of, committed, joined, key, message, split, token};
use crate::support::Place;

#[tokio::test]
async fn a_state_and_a_content_may_be_as_long_as_any() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let longest = |byte| Payload::new(vec![byte; MAX_PAYLOAD_BYTES]);
    let commit = Commit {
        change: EntityChange::Put(longest(0)?),
        entry: Some(longest(0xff)?),
        ..commit_of(&*entities, "a").await?
    };
    committed(&*entities, &commit).await?;
    let opened = entities.open(&key(), &message("a"), None).await?;
    assert_eq!((opened.state, opened.entry.map(|entry| entry.content)), (Some(longest(0)?), Some(longest(0xff)?)));
    Ok(())
}

#[tokio::test]
async fn a_commit_creates_as_many_tokens_as_it_names() -> Result<()> {
    let place = Place::ready().await?;
    let (entities, tokens) = joined(&place.store()?)?;
    for count in [1, 50, 12_000] {
        let create: Vec<TokenId> = (0..count).map(|number| token(&format!("{count}-{number}"))).collect();
        let commit = Commit { create: create.clone(), ..commit_of(&*entities, &count.to_string()).await? };
        committed(&*entities, &commit).await?;
        assert_eq!(tokens.create_tokens(&create).await?.already_live, count);
    }
    Ok(())
}
