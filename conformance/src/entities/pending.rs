//! Listings of entries that are not finished, page by page.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{Cursor, EntityLedger, EntryId, ErrorKind};

use super::{Messaged, op, split};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pages::after;
use crate::race::{answered, race};
use crate::world::World;

/// Returns all entries, read in pages of at most `limit`.
async fn listed(entities: &dyn EntityLedger, limit: usize) -> Result<Vec<EntryId>, Failure> {
    let (mut entries, mut cursor) = (vec![], None);
    loop {
        let page = answered(|| entities.pending(cursor.as_ref(), limit)).await?;
        ensure!(page.entries.len() <= limit, "a page of {limit} has {} entries", page.entries.len());
        entries.extend(page.entries);
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

async fn committed(entities: &dyn EntityLedger, entity: &str, name: &str) -> Result<EntryId, Failure> {
    let one = Messaged::new(entity, name)?;
    for _ in 0..1_000 {
        let commit = one.commit(entities).await?;
        if answered(|| entities.commit(&commit)).await? == storagebox_core::Committed::Committed {
            return Ok(one.entry()?);
        }
    }
    Err(Failure::new("a commit found another version a thousand times"))
}

/// A listing shows every entry once, even if the concatenated key and message of two entries are equal.
pub(super) async fn every_entry_is_listed_once(world: &World) -> Verdict {
    let (entities, mut expected) = (split(world)?, BTreeSet::new());
    ensure_eq!(listed(&*entities, 3).await?, vec![], "a ledger without entries");
    for entity in ["a", "ab", "a:", "é", "b", "a%", "a\u{1}"] {
        for name in ["b", "bb", ":b", "ü", "1"] {
            expected.insert(committed(&*entities, entity, name).await?);
        }
    }
    // An entry is named after its commit, not after an attempt that is registered or chosen later.
    if let Some(first) = expected.first() {
        let _ = entities.register(first, &op("10:another")?).await?;
        let _ = entities.choose(first, &op("10:another")?).await?;
    }
    let removed = committed(&*entities, "a", "removed").await?;
    ensure!(entities.remove(&removed).await?, "an entry is not there");
    for limit in [1, 2, 7, expected.len(), 1_000] {
        let found = listed(&*entities, limit).await?;
        ensure_eq!(found.len(), expected.len(), "entries in pages of {limit}");
        ensure_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "the entries in pages of {limit}");
    }
    Ok(())
}

pub(super) async fn entries_that_stay_are_listed_while_others_come_and_go(world: &World) -> Verdict {
    let (entities, mut staying) = (split(world)?, BTreeSet::new());
    for number in 0..20 {
        staying.insert(committed(&*entities, &format!("entity-{}", number % 7), &format!("stays-{number}")).await?);
    }
    let staying = Arc::new(staying);
    race(6, |number| {
        let (entities, staying) = (Arc::clone(&entities), Arc::clone(&staying));
        async move {
            for round in 0..6 {
                if number < 3 {
                    let (entity, name) = (format!("entity-{}", round % 7), format!("goes-{number}-{round}"));
                    let entry = committed(&*entities, &entity, &name).await?;
                    answered(|| entities.remove(&entry)).await?;
                } else {
                    let found = listed(&*entities, 1 + number).await?;
                    let known = found.iter().filter(|entry| staying.contains(*entry)).count();
                    ensure_eq!(known, staying.len(), "how often the entries that stay are listed");
                }
            }
            Ok(())
        }
    })
    .await
    .map(drop)
}

pub(super) async fn a_page_without_room_or_of_a_foreign_cursor_is_refused(world: &World) -> Verdict {
    let entities = split(world)?;
    for (cursor, limit) in [(None, 0), (Some(Cursor::new("nobody's")), 5), (Some(Cursor::new("")), 5)] {
        let refused = entities.pending(cursor.as_ref(), limit).await;
        ensure_matches!(
            refused,
            Err(error) if error.kind() == ErrorKind::InvalidInput,
            "a page of {limit} from {cursor:?}"
        );
    }
    Ok(())
}
