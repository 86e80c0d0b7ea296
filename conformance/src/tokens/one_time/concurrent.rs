//! Many concurrent callers.

use storagebox_core::{TokenBegun, TokenCommitted};

use super::{LONG, Links, text};
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::race::race;
use crate::world::World;

/// The numbers of callers in races: fewer than in other races, because each caller makes several calls of the store.
const SIZES: [usize; 3] = [2, 8, 24];

pub(in crate::tokens) async fn racing_callers_have_one_result(world: &World) -> Verdict {
    let clients = Links::patient_pair(world).await?;
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let link = format!("link-{round}-{size}");
            clients[0].create(&link).await?;
            let winners = race(size, |number| {
                let (links, link) = (clients[number % 2].clone(), link.clone());
                async move { won(&links, &link, &format!("caller-{number}")).await }
            })
            .await?;
            ensure_eq!(winners.iter().filter(|won| **won).count(), 1, "of {size} callers, those who used {link}");
            let first =
                |has_won| winners.iter().position(|won| *won == has_won).map(|number| format!("caller-{number}"));
            if let (Some(winner), Some(loser)) = (first(true), first(false)) {
                clients[1].ensure_replayed(&link, &winner, &winner).await?;
                clients[0].ensure_gone(&link, &loser).await?;
            }
        }
    }
    Ok(())
}

/// Tries to use the token, and lets other callers try during the work. Returns whether this caller used the token.
async fn won(links: &Links, link: &str, caller: &str) -> Result<bool, Failure> {
    let begun = links.begin(link, caller).await?;
    let TokenBegun::Started(lease) = begun else {
        ensure_matches!(begun, TokenBegun::InUse { .. } | TokenBegun::Gone, "{caller} in a race");
        return Ok(false);
    };
    tokio::task::yield_now().await;
    let committed = links.links.commit(&lease, caller).await?;
    ensure_eq!(committed, TokenCommitted::Committed(text(caller)?), "the commit of {caller}");
    Ok(true)
}

/// Concurrent calls of one caller do the work once, and all of them get its result.
pub(in crate::tokens) async fn racing_calls_of_one_caller_work_once(world: &World) -> Verdict {
    let clients = Links::patient_pair(world).await?;
    for round in 0..world.profile().rounds {
        let link = format!("link-{round}");
        clients[0].create(&link).await?;
        let works = race(8, |number| {
            let (links, link) = (clients[number % 2].clone(), link.clone());
            async move {
                loop {
                    match links.links.begin(&*link, "ada", LONG).await? {
                        TokenBegun::Started(lease) => {
                            tokio::task::yield_now().await;
                            let committed = links.links.commit(&lease, format!("work-{number}")).await?;
                            ensure_matches!(committed, TokenCommitted::Committed(_), "the only commit");
                            return Ok(Err(number));
                        }
                        TokenBegun::Replayed(result) => return Ok(Ok(result)),
                        TokenBegun::InUse { .. } => tokio::task::yield_now().await,
                        TokenBegun::Gone => return Err(Failure::new("the caller is answered that the token is gone")),
                    }
                }
            }
        })
        .await?;
        let worked: Vec<_> = works.iter().filter_map(|work| work.as_ref().err()).collect();
        ensure_eq!(worked.len(), 1, "calls of one caller that worked");
        let expected = text(&format!("work-{}", worked[0]))?;
        for replayed in works.iter().flatten() {
            ensure_eq!(*replayed, expected, "the result of a call that did not work");
        }
    }
    Ok(())
}
