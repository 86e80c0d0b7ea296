//! How a joined commit is recognised: by its entry and by its token, each for as long as it is remembered.

use storagebox_core::{Commit, Committed, Created, EntityChange, Opened};

use super::{Messaged, exchange, fresh_entry, joined, live, op, token};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::world::World;

/// If a message has an entry, another commit of the message neither consumes nor creates a token, even with the current
/// version.
pub(in super::super) async fn a_message_that_has_an_entry_keeps_its_token(world: &World) -> Verdict {
    let ((entities, tokens), one, its) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    tokens.create_tokens(std::slice::from_ref(&its)).await?;
    ensure_eq!(entities.commit(&one.commit(&*entities).await?).await?, Committed::Committed, "a commit");
    let before = entities.open(&one.key, &one.message, Some(&its)).await?;
    let copy = Commit { attempt: op("copy")?, ..exchange(&*entities, &one, &its).await? };
    let last = Commit { entry: None, create: vec![], change: EntityChange::Delete, ..copy.clone() };
    for commit in [copy, last] {
        ensure_eq!(entities.commit(&commit).await?, Committed::Conflict, "{commit:?}");
        let found = entities.open(&one.key, &one.message, Some(&its)).await?;
        ensure_eq!(found, before, "the entity and the token after that");
        ensure_eq!(live(&*tokens, &commit.create).await?, 0, "its new tokens");
    }
    Ok(())
}

/// A repeated commit changes nothing, even if its entry was removed. The store recognises the commit by its token until
/// the store forgets the token.
pub(in super::super) async fn a_commit_is_known_by_its_token_behind_its_entry(world: &World) -> Verdict {
    let ((entities, tokens), one, its) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    tokens.create_tokens(std::slice::from_ref(&its)).await?;
    let commit = exchange(&*entities, &one, &its).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
    ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
    let finished = one.open(&*entities).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the same behind its entry");
    ensure_eq!(one.open(&*entities).await?, finished, "the entity after that");
    world.pass_memory().await;
    if world.can_forget() {
        ensure_eq!(entities.commit(&commit).await?, Committed::Conflict, "the same once its token is forgotten");
        ensure_eq!(one.open(&*entities).await?, finished, "the entity after that");
    }
    Ok(())
}

/// A commit can create a token that was discarded earlier and has since been forgotten by the store.
pub(in super::super) async fn a_token_that_is_forgotten_is_created_again(world: &World) -> Verdict {
    let ((entities, tokens), one, its) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    let commit = exchange(&*entities, &one, &its).await?;
    tokens.discard(&commit.create).await?;
    world.pass_memory().await;
    tokens.create_tokens(std::slice::from_ref(&its)).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
    ensure_eq!(one.open(&*entities).await?.entry, fresh_entry(&commit), "its entry");
    let expected = if world.can_forget() {
        Created { already_live: 2, ..Created::default() }
    } else {
        Created { gone: 2, ..Created::default() }
    };
    ensure_eq!(tokens.create_tokens(&commit.create).await?, expected, "creating its tokens again");
    Ok(())
}

/// A store remembers the version of an entity that was deleted by a commit without an entry.
pub(in super::super) async fn a_deletion_without_an_entry_is_remembered(world: &World) -> Verdict {
    let ((entities, tokens), one, late) =
        (joined(world)?, Messaged::new("entity", "one")?, Messaged::new("entity", "late")?);
    let (its, early) = (token("in")?, late.commit(&*entities).await?);
    tokens.create_tokens(std::slice::from_ref(&its)).await?;
    let delete = Commit { change: EntityChange::Delete, entry: None, ..one.commit(&*entities).await? };
    let delete = Commit { consume: Some(its), ..delete };
    ensure_eq!(entities.commit(&delete).await?, Committed::Committed, "a deletion");
    let version = one.open(&*entities).await?.version;
    world.upkeep().await?;
    ensure_eq!(one.open(&*entities).await?.version, version, "the version of an entity that is just over");
    ensure_eq!(entities.commit(&early).await?, Committed::Conflict, "a commit that found the entity absent");
    world.outlast_memory().await?;
    if world.can_forget() {
        ensure_eq!(one.open(&*entities).await?, Opened::default(), "an entity that is long over");
        let anew = late.commit(&*entities).await?;
        ensure_eq!(entities.commit(&anew).await?, Committed::Committed, "a commit that finds it absent again");
    }
    Ok(())
}
