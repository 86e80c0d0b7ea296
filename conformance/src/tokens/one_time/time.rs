//! When the time to replay a result ends, and when the store forgets.

use std::time::Duration;

use storagebox_core::{Peeked, TokenCommitted};

use super::{LONG, Links};
use crate::failure::{Verdict, ensure_eq};
use crate::world::World;

pub(in crate::tokens) async fn a_result_is_replayed_for_its_time(world: &World) -> Verdict {
    let time = world.short() * 3;
    let links = Links::of(world.store())?.replaying(time)?;
    let lease = links.used("link", "ada", "result").await?;
    links.ensure_replayed("link", "ada", "result").await?;
    world.pass(time).await;
    links.ensure_gone("link", "ada").await?;
    ensure_eq!(links.links.commit(&lease, "result").await?, TokenCommitted::Fenced, "a commit after that");
    links.ensure_gone("link", "ada").await
}

pub(in crate::tokens) async fn nothing_is_left_of_a_used_token(world: &World) -> Verdict {
    let time = world.short() * 3;
    let links = Links::of(world.store())?.replaying(time)?;
    for number in 0..4 {
        links.used(&format!("link-{number}"), "ada", "result").await?;
    }
    world.pass(time).await;
    for number in 0..4 {
        ensure_eq!(
            links.left(&format!("link-{number}")).await?,
            (0, false),
            "records, and whether link-{number} lives"
        );
    }
    if world.can_forget() {
        world.outlast_memory().await?;
        let created = links.links.create(["link-0"]).await?;
        ensure_eq!(created.created, 1, "a token that was forgotten, created");
        let lease = links.start("link-0", "bob", LONG).await?;
        links.commit(&lease, "another").await?;
    }
    Ok(())
}

/// A token that was forgotten and is created again can be used again, even while its first result is replayed.
pub(in crate::tokens) async fn a_token_that_is_created_again_has_a_result_of_its_own(world: &World) -> Verdict {
    let links = Links::of(world.store())?.replaying(Duration::from_secs(30 * 24 * 3_600))?;
    links.used("code", "ada", "first").await?;
    world.outlast_memory().await?;
    links.ensure_replayed("code", "ada", "first").await?;
    links.create("code").await?;
    links.ensure_peeked("code", Peeked::Live, "after it was created again").await?;
    let lease = links.start("code", "bob", LONG).await?;
    links.commit(&lease, "second").await?;
    links.ensure_replayed("code", "bob", "second").await?;
    links.ensure_gone("code", "ada").await
}
