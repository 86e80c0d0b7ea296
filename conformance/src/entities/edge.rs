//! The longest names and contents, and names with a special meaning elsewhere.

use storagebox_core::{
    Chosen, Commit, Committed, EntityChange, EntryId, Key, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MessageId, OpId, Payload,
    Registered,
};

use super::{entities_of, split};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// Commits an entity, a message and operations that are all named `name`, and checks that everything is stored.
async fn ensure_kept(world: &World, name: &str, (state, content): (Payload, Payload)) -> Verdict {
    let (entities, key, message) = (split(world)?, Key::new(name)?, MessageId::new(name)?);
    let opened = entities.open(&key, &message, None).await?.version;
    let entry = EntryId { key, message, commit: OpId::new(name)? };
    let commit = Commit {
        key: entry.key.clone(),
        message: entry.message.clone(),
        opened,
        change: EntityChange::Put(state.clone()),
        attempt: entry.commit.clone(),
        entry: Some(content.clone()),
        consume: None,
        create: vec![],
    };
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit of {name:?}");
    let more = OpId::new(name.chars().rev().collect::<String>().replacen(|_| true, "2", 1))?;
    ensure_eq!(entities.register(&entry, &more).await?, Registered::Registered, "an attempt of {name:?}");
    let chosen = entities.choose(&entry, &more).await?;
    ensure_matches!(chosen, Chosen::Chosen(found) if found.chosen.as_ref() == Some(&more), "its choice");
    let entities = entities_of(&world.client().await?)?;
    let found = entities.open(&entry.key, &entry.message, None).await?;
    ensure!(found.state == Some(state), "the state of {name:?} is another");
    let found = found.entry.map(|found| (found.content == content, found.attempts));
    ensure_eq!(found, Some((true, vec![entry.commit.clone(), more])), "the entry of {name:?}");
    ensure_eq!(entities.pending(None, 2).await?.entries, vec![entry.clone()], "the entries that are listed");
    ensure!(entities.remove(&entry).await?, "the entry of {name:?} is not there");
    Ok(())
}

pub(super) async fn the_longest_and_the_shortest_are_kept(world: &World) -> Verdict {
    let large =
        |first: u8| Payload::new((0..MAX_PAYLOAD_BYTES).map(|at| first.wrapping_add(at as u8)).collect::<Vec<_>>());
    let wide = "\u{1f600}".repeat(MAX_ID_BYTES / 4);
    for name in [wide, "'".repeat(MAX_ID_BYTES), "\\".repeat(MAX_ID_BYTES)] {
        ensure_kept(world, &name, (large(0)?, large(7)?)).await?;
        ensure_kept(world, &name, (Payload::default(), Payload::default())).await?;
    }
    Ok(())
}

pub(super) async fn every_name_is_kept_as_it_is(world: &World) -> Verdict {
    for name in ["'; --", "[\"", "se\"c,o}nd", "NULL", "\\u0041", "%_", "1:1", "\u{feff}.", "é", "e\u{301}"] {
        ensure_kept(world, name, (Payload::try_from(name)?, Payload::try_from(name)?)).await?;
    }
    Ok(())
}
