//! Listings, page by page, of ids many of which have no record.

use storagebox_core::{DedupRepo, Recorded, Retention};

use super::super::{LONG, Repos, id, op, text};
use crate::failure::{Verdict, ensure_matches};
use crate::pages::{Listing, MANY_PAGES};
use crate::race::{answered, race};
use crate::world::World;

const LIMITS: [usize; 6] = [1, 2, 3, 7, 40, 1_000];

/// Pages show each live record once, even if many expired records, forgotten records and leases lie between the live
/// records.
pub(in crate::dedup) async fn pages_show_each_record_that_lives_once(world: &World) -> Verdict {
    let (repos, ada, short) = (Repos::of(world.store())?, op("ada")?, world.short());
    let mut live = vec![];
    for number in 0..40 {
        let name = format!("id-{number:02}");
        let one = id(&name)?;
        match number {
            0..=12 | 33..=36 => drop(repos.record_new(&one, "value", &ada, Retention::For(short)).await?),
            14 | 17 | 20 | 39 => drop(repos.begin_new(&one, &ada, LONG).await?),
            15 | 16 | 38 => {
                let version = repos.record_new(&one, "value", &ada, Retention::Forever).await?;
                let _ = repos.records.forget(&one, version).await?;
            }
            _ => {
                repos.record_new(&one, "value", &ada, Retention::Forever).await?;
                live.push(name);
            }
        }
    }
    world.pass(short).await;
    Listing::Records(&*repos.records).ensure_shows(live.clone(), &LIMITS).await?;
    world.upkeep().await?;
    Listing::Records(&*repos.records).ensure_shows(live, &LIMITS).await
}

/// If there are more records than a store may read in one step, the pages show each record once.
pub(in crate::dedup) async fn pages_of_many_records_show_each_once(world: &World) -> Verdict {
    const AT_ONCE: usize = 60;
    let (records, mut names) = (world.dedup()?, vec![]);
    for round in 0..19 {
        let recorded = race(AT_ONCE, |number| {
            let (records, name) = (records.clone(), format!("{round}-{number}"));
            async move {
                let (id, op, value) = (id(&name)?, op("ada")?, text("value")?);
                let recorded = answered(|| records.record(&id, &value, &op, Retention::Forever)).await?;
                ensure_matches!(recorded, Recorded::New(_) | Recorded::Again(_), "recording {name}");
                Ok(name)
            }
        });
        names.extend(recorded.await?);
    }
    Listing::Records(&*records).ensure_shows(names, &MANY_PAGES).await
}
