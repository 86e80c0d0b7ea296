//! Listings of what is pending: E-5.

use std::collections::BTreeSet;

use storagebox_core::{Commit, Cursor, EntityLedger, EntryId, ErrorKind, Key, MessageId, OpId, Result};

use super::{commit_at, committed, split, store};
use crate::scene::with_place;

fn id(key: &str, message: &str) -> Result<EntryId> {
    Ok(EntryId { key: Key::new(key)?, message: MessageId::new(message)?, commit: OpId::new(message)? })
}

async fn add(entities: &dyn EntityLedger, id: &EntryId) -> Result<()> {
    let opened = entities.open(&id.key, &id.message, None).await?.version;
    committed(entities, &Commit { key: id.key.clone(), ..commit_at(opened, id.message.as_str())? }).await
}

/// All pages, with something done between each two of them.
async fn list(
    entities: &dyn EntityLedger,
    limit: usize,
    mut between: impl AsyncFnMut(usize) -> Result<()>,
) -> Result<Vec<EntryId>> {
    let (mut listed, mut cursor) = (vec![], None);
    for page in 0.. {
        let found = entities.pending(cursor.as_ref(), limit).await?;
        assert!(found.entries.len() <= limit);
        listed.extend(found.entries);
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
        between(page).await?;
    }
    Ok(listed)
}

#[tokio::test]
async fn every_entry_is_listed_once_in_pages_of_any_size() -> Result<()> {
    with_place(async |place| {
        let (entities, mut expected) = (split(&store(place)?)?, BTreeSet::new());
        for number in 0..60 {
            let id = id(&format!("{}:é", number / 3), &format!("{number}:x"))?;
            add(&*entities, &id).await?;
            expected.insert(id);
        }
        for limit in [1, 2, 3, 7, 59, 60, 5_000] {
            let listed = list(&*entities, limit, async |_| Ok(())).await?;
            assert_eq!(listed.len(), expected.len(), "pages of {limit}");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn entries_that_stay_are_listed_once_while_others_come_and_go() -> Result<()> {
    with_place(async |place| {
        let entities = &*split(&store(place)?)?;
        let stay = (0..20).map(|number| id("stays", &format!("{number:02}"))).collect::<Result<Vec<_>>>()?;
        for entry in &stay {
            add(entities, entry).await?;
        }
        for limit in [1, 3] {
            let come_and_go = async |page| {
                for key in ["before", "stays", "then"] {
                    let come = id(key, &format!("{page:02}-comes"))?;
                    add(entities, &come).await?;
                    if page > 0 {
                        assert!(entities.remove(&id(key, &format!("{:02}-comes", page - 1))?).await?);
                    }
                }
                Ok(())
            };
            let listed = list(entities, limit, come_and_go).await?;
            let found: Vec<_> = listed.iter().filter(|entry| stay.contains(entry)).cloned().collect();
            assert_eq!(found, stay, "pages of {limit}");
            for left in list(entities, 100, async |_| Ok(())).await? {
                assert!(stay.contains(&left) || entities.remove(&left).await?);
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_cursor_of_another_listing_is_refused() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        assert_eq!(entities.pending(None, 0).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        for cursor in ["3:x", "after:", "after:x", "after:1:", "after:0:x", "after:1:x", "after:9:xy", "after:1:éx"] {
            let refused = entities.pending(Some(&Cursor::new(cursor)), 1).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{cursor}");
        }
        assert!(entities.pending(Some(&Cursor::new("after:1:xy")), 1).await?.entries.is_empty());
        Ok(())
    })
    .await
}
