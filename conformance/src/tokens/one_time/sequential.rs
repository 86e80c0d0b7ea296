//! One caller after the other.

use storagebox_core::{Aborted, LeaseExtended, Payload, Peeked, TokenBegun, TokenCommitted};

use super::{LONG, Links, text};
use crate::failure::{Verdict, ensure_eq, ensure_matches};
use crate::world::World;

pub(in crate::tokens) async fn peeking_changes_nothing(world: &World) -> Verdict {
    let [mine, others] = Links::pair(world).await?;
    mine.ensure_peeked("link", Peeked::Gone, "before it is created").await?;
    mine.create("link").await?;
    for _ in 0..3 {
        mine.ensure_peeked("link", Peeked::Live, "before it is used").await?;
        others.ensure_peeked("link", Peeked::Live, "before it is used, by another client").await?;
    }
    ensure_eq!(mine.left("link").await?, (0, true), "what looking leaves");
    let lease = mine.start("link", "ada", LONG).await?;
    others.ensure_peeked("link", Peeked::Live, "while it is in use").await?;
    mine.commit(&lease, "result").await?;
    mine.ensure_peeked("link", Peeked::Gone, "after it was used").await?;
    others.ensure_peeked("link", Peeked::Gone, "after it was used, by another client").await
}

pub(in crate::tokens) async fn a_guess_leaves_no_trace(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    links.ensure_gone("guess", "eve").await?;
    ensure_eq!(links.left("guess").await?, (0, false), "what a guess leaves");
    let created = links.links.create(["guess"]).await?;
    ensure_eq!(created.gone, 0, "tokens that a guess has ended");
    links.start("guess", "ada", LONG).await?;
    Ok(())
}

pub(in crate::tokens) async fn one_call_begins_at_a_time(world: &World) -> Verdict {
    let [mine, others] = Links::pair(world).await?;
    mine.create("link").await?;
    let lease = mine.start("link", "ada", LONG).await?;
    for caller in ["ada", "bob"] {
        let begun = others.begin("link", caller).await?;
        ensure_matches!(begun, TokenBegun::InUse { remaining } if remaining <= LONG, "{caller} beside the lease");
    }
    mine.commit(&lease, "result").await?;
    others.ensure_gone("link", "bob").await?;
    others.ensure_replayed("link", "ada", "result").await
}

pub(in crate::tokens) async fn a_token_that_is_given_back_begins_again(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    links.create("link").await?;
    for caller in ["ada", "ada", "bob"] {
        let lease = links.start("link", caller, LONG).await?;
        for _ in 0..2 {
            ensure_eq!(links.links.abort(&lease).await?, Aborted::Aborted, "{caller} gives it back");
        }
        links.ensure_peeked("link", Peeked::Live, "after it was given back").await?;
        ensure_eq!(links.links.commit(&lease, "late").await?, TokenCommitted::Fenced, "a commit after that");
    }
    let lease = links.start("link", "ada", LONG).await?;
    links.commit(&lease, "result").await
}

pub(in crate::tokens) async fn an_overtaken_lease_commits_nothing(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let lease = world.short() * 3;
    links.create("link").await?;
    let lost = links.start("link", "ada", lease).await?;
    world.pass(lease).await;
    let held = links.start("link", "bob", LONG).await?;
    ensure_eq!(links.links.commit(&lost, "late").await?, TokenCommitted::Fenced, "a commit before the other's");
    ensure_eq!(links.links.extend(&lost, LONG).await?, LeaseExtended::Fenced, "extending a lease that was lost");
    ensure_eq!(links.links.abort(&lost).await?, Aborted::Fenced, "giving back what was lost");
    links.commit(&held, "result").await?;
    ensure_eq!(links.links.commit(&lost, "late").await?, TokenCommitted::Fenced, "a commit after the other's");
    links.ensure_gone("link", "ada").await?;
    links.ensure_replayed("link", "bob", "result").await
}

pub(in crate::tokens) async fn an_extended_lease_lasts(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let lease = world.short() * 3;
    links.create("link").await?;
    let held = links.start("link", "ada", lease).await?;
    ensure_eq!(links.links.extend(&held, LONG).await?, LeaseExtended::Extended, "extending one's own lease");
    world.pass(lease).await;
    ensure_matches!(links.begin("link", "bob").await?, TokenBegun::InUse { .. }, "another during the extended lease");
    links.commit(&held, "result").await
}

pub(in crate::tokens) async fn a_lapsed_lease_that_nobody_took_commits(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let lease = world.short();
    links.create("link").await?;
    let held = links.start("link", "ada", lease).await?;
    world.pass(lease).await;
    links.commit(&held, "result").await?;
    links.ensure_gone("link", "bob").await
}

pub(in crate::tokens) async fn a_used_token_is_not_created_again(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    links.used("link", "ada", "result").await?;
    let created = links.links.create(["link"]).await?;
    ensure_eq!((created.created, created.gone), (0, 1), "creating a used token again");
    links.ensure_peeked("link", Peeked::Gone, "after that").await?;
    links.ensure_gone("link", "bob").await
}

pub(in crate::tokens) async fn a_discarded_token_is_gone(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    links.create("link").await?;
    links.links.discard(["link"]).await?;
    links.ensure_peeked("link", Peeked::Gone, "after it was discarded").await?;
    links.ensure_gone("link", "ada").await?;
    ensure_eq!(links.left("link").await?, (0, false), "what is left of it");
    Ok(())
}

/// The caller that used a token gets the recorded result again through every client. Another caller does not get the
/// result.
pub(in crate::tokens) async fn the_caller_gets_the_result_again(world: &World) -> Verdict {
    let [mine, others] = Links::pair(world).await?;
    let results = [&b""[..], b"result", &[0, 255, 128], b"\0", "é".as_bytes(), &[b'x'; 70_000]];
    for (number, result) in results.iter().enumerate() {
        let (link, result) = (format!("link-{number}"), Payload::try_from(*result)?);
        mine.create(&link).await?;
        let lease = mine.start(&link, "ada", LONG).await?;
        let expected = TokenCommitted::Committed(result.clone());
        ensure_eq!(mine.links.commit(&lease, &result).await?, expected, "the commit of result {number}");
        for links in [&mine, &others] {
            let begun = links.begin(&link, "ada").await?;
            ensure_eq!(begun, TokenBegun::Replayed(result.clone()), "result {number}, once more");
            links.ensure_gone(&link, "Ada").await?;
        }
    }
    Ok(())
}

pub(in crate::tokens) async fn the_first_commit_of_a_lease_stays(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let lease = links.used("link", "ada", "first").await?;
    for result in ["first", "second"] {
        let again = links.links.commit(&lease, result).await?;
        ensure_eq!(again, TokenCommitted::Committed(text("first")?), "a commit of {result} with the same lease");
    }
    ensure_eq!(links.links.abort(&lease).await?, Aborted::Aborted, "giving back what was used");
    links.ensure_replayed("link", "ada", "first").await
}
