//! V-2 in the parts that not every store has: every text of entities that join tokens, and of ledgers.

use std::slice;
use std::time::Duration;

use storagebox_core::{
    Change, Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, Joins, Key, LedgerEntry, MessageId, OpId,
    Payload, Registered, TokenId,
};

use super::pool::{nasty_texts, pairs};
use super::texts::as_values;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// Returns a commit that adds an entry and has the text as its key, its message and its attempt.
async fn commit_of(entities: &dyn EntityLedger, text: &str) -> Result<Commit, Failure> {
    let (key, message) = (Key::new(text)?, MessageId::new(text)?);
    let opened = entities.open(&key, &message, None).await?.version;
    let content = Payload::try_from("value")?;
    Ok(Commit {
        key,
        message,
        opened,
        change: EntityChange::Put(content.clone()),
        attempt: OpId::new(text)?,
        entry: Some(content),
        consume: None,
        create: vec![],
    })
}

fn entry_of(text: &str) -> Result<EntryId, Failure> {
    Ok(EntryId { key: Key::new(text)?, message: MessageId::new(text)?, commit: OpId::new(text)? })
}

/// Each entry has a chosen attempt with the name of the next entry's commit. Removing an entry removes no other entry.
pub(super) async fn every_call_of_a_nasty_entry_is_its_own(world: &World) -> Verdict {
    let (entities, texts) = (world.entities(&Joins::default())?, nasty_texts());
    for text in &texts {
        let commit = commit_of(&*entities, text).await?;
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit of {text:?}");
    }
    for (_, text, next) in pairs(&texts) {
        let (entry, attempt) = (entry_of(text)?, OpId::new(next.as_str())?);
        ensure_eq!(entities.choose(&entry, &attempt).await?, Chosen::Gone, "choosing {next:?} in {text:?} too early");
        let registered = entities.register(&entry, &attempt).await?;
        ensure_eq!(registered, Registered::Registered, "registering {next:?} in {text:?}");
        let chosen = entities.choose(&entry, &attempt).await?;
        ensure_matches!(chosen, Chosen::Chosen(entry) if entry.attempts.contains(&attempt), "the choice in {text:?}");
    }
    for (number, text, next) in pairs(&texts) {
        ensure!(entities.remove(&entry_of(text)?).await?, "the entry of {text:?} is gone too early");
        ensure!(!entities.remove(&entry_of(text)?).await?, "the entry of {text:?} is removed twice");
        if number + 1 < texts.len() {
            let kept = entities.open(&Key::new(next.as_str())?, &MessageId::new(next.as_str())?, None).await?;
            ensure!(kept.entry.is_some(), "the entry of {next:?} is gone, and only that of {text:?} was removed");
        }
    }
    Ok(())
}

/// Each commit consumes a token and creates a token of the same name in another namespace.
pub(super) async fn nasty_tokens_of_commits_stay_different(world: &World) -> Verdict {
    let joins = Joins { incoming: Some("came".parse()?), outgoing: Some("goes".parse()?) };
    let (came, goes) = (world.store().token_store(&"came".parse()?)?, world.store().token_store(&"goes".parse()?)?);
    let (entities, tokens) = (world.entities(&joins)?, as_values::<TokenId>(nasty_texts())?);
    came.create_tokens(&tokens).await?;
    for (number, token, next) in pairs(&tokens) {
        let mut commit = commit_of(&*entities, &format!("message-{number}")).await?;
        (commit.consume, commit.create) = (Some(token.clone()), slice::from_ref(token).to_vec());
        let live = async |token| entities.open(&commit.key, &commit.message, Some(token)).await;
        ensure_eq!(live(token).await?.token_is_live, Some(true), "whether {token:?} lives");
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit that consumes {token:?}");
        ensure_eq!(live(token).await?.token_is_live, Some(false), "whether {token:?} lives after its commit");
        ensure!(goes.exists(token).await?, "{token:?} was created by a commit, and does not exist");
        if number + 1 < tokens.len() {
            ensure_eq!(live(next).await?.token_is_live, Some(true), "whether {next:?} lives after {token:?} is gone");
            ensure!(!goes.exists(next).await?, "{next:?} exists, and only {token:?} was created");
        }
    }
    Ok(())
}

/// Each key has two changes. The compaction of one key does not change the logs of the others.
pub(super) async fn nasty_keys_of_ledgers_stay_different(world: &World) -> Verdict {
    let (ledger, keys) = (world.store().ledger(&"counters".parse()?)?, as_values::<Key>(nasty_texts())?);
    for (number, key, _) in pairs(&keys) {
        for op in ["one", "two"] {
            let _ = ledger.apply(key, &Change::new(op.parse()?, number as i64)).await?;
        }
    }
    for (number, key, next) in pairs(&keys) {
        ensure_eq!(ledger.value_within(key, Duration::ZERO).await?, 2 * number as i64, "the value of {key:?}");
        ledger.compact(key, Duration::ZERO, 10).await?;
        let log = ledger.log(key, None, 10).await?.entries;
        ensure!(matches!(log[..], [LedgerEntry::Sum { .. }]), "the log of {key:?} after its compaction: {log:?}");
        if number + 1 < keys.len() {
            let log = ledger.log(next, None, 10).await?.entries;
            ensure_eq!(log.len(), 2, "the changes of {next:?}, of which none was compacted");
        }
    }
    Ok(())
}
