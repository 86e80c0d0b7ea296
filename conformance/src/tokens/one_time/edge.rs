//! Limits.

use std::time::Duration;

use storagebox_core::{Certainty, ErrorKind, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, Result, TokenBegun};

use super::{LONG, Links};
use crate::failure::{Verdict, ensure_eq, ensure_matches};
use crate::world::World;

fn ensure_refused<T: std::fmt::Debug>(answer: Result<T>, expected: ErrorKind, what: &str) -> Verdict {
    let error = ensure_matches!(answer, Err(error) => error, "{what}");
    ensure_eq!((error.kind(), error.certainty()), (expected, Certainty::NotApplied), "{what}");
    Ok(())
}

pub(in crate::tokens) async fn what_breaks_a_limit_is_refused(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let (longest, too_long) = ("x".repeat(505), "x".repeat(506));
    ensure_refused(links.links.create([&*too_long]).await, ErrorKind::InvalidInput, "creating a token of 506 bytes")?;
    ensure_refused(links.links.peek(&*too_long).await, ErrorKind::InvalidInput, "looking at it")?;
    ensure_refused(links.begin(&too_long, "ada").await, ErrorKind::InvalidInput, "beginning with it")?;
    links.create(&longest).await?;
    let none = links.links.begin(&*longest, "ada", Duration::ZERO).await;
    ensure_refused(none, ErrorKind::InvalidInput, "a lease of no time")?;
    ensure_refused(links.begin(&longest, "").await, ErrorKind::InvalidInput, "an empty caller")?;

    let caller = "c".repeat(MAX_ID_BYTES);
    let lease = links.start(&longest, &caller, LONG).await?;
    let much = links.links.commit(&lease, "x".repeat(MAX_PAYLOAD_BYTES)).await;
    ensure_refused(much, ErrorKind::TooLarge, "a result without room for its caller")?;
    let result = "x".repeat(MAX_PAYLOAD_BYTES - 1_024);
    links.commit(&lease, &result).await?;
    links.ensure_replayed(&longest, &caller, &result).await
}

pub(in crate::tokens) async fn tokens_and_callers_that_look_alike_are_apart(world: &World) -> Verdict {
    let links = Links::of(world.store())?;
    let alike = ["link", "Link", " link", "link ", "begun:link", "result:link", "lınk"];
    links.links.create(alike).await?;
    for token in alike {
        let lease = links.start(token, token, LONG).await?;
        links.commit(&lease, token).await?;
    }
    for token in alike {
        for caller in alike {
            let begun = links.begin(token, caller).await?;
            let replayed = ensure_matches!(begun, TokenBegun::Replayed(_) | TokenBegun::Gone => begun, "{caller:?}");
            ensure_eq!(replayed != TokenBegun::Gone, caller == token, "whether {caller:?} used {token:?}");
        }
    }
    Ok(())
}
