//! Commits with the largest contents and with many tokens.

use storagebox_core::{Commit, Result, TokenId};

use super::{commit_of, committed, joined, token};
use crate::support::Place;

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
