//! One caller, one call after another.

use std::time::Duration;

use storagebox_core::{Chosen, Commit, Committed, EntityChange, EntityLedger, Opened, Registered, Version};

use super::{Messaged, choice, entities_of, fresh_entry, op, payload, split};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

pub(super) async fn a_commit_to_another_version_is_a_conflict(world: &World) -> Verdict {
    let entities = split(world)?;
    for round in 0..3 {
        let (first, second) =
            (Messaged::new("entity", &format!("first-{round}"))?, Messaged::new("entity", &format!("second-{round}"))?);
        let (commit, late) = (first.commit(&*entities).await?, second.commit(&*entities).await?);
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the first commit to a version");
        ensure_eq!(entities.commit(&late).await?, Committed::Conflict, "the second");
        let opened = second.open(&*entities).await?;
        ensure_eq!(opened.state, Some(payload(first.name())?), "the state after that");
        ensure_eq!(opened.entry, None, "the entry of a commit that was not made");
        ensure!(opened.version != commit.opened, "a commit left the version as it was");
    }
    Ok(())
}

pub(super) async fn an_absent_entity_is_created_once(world: &World) -> Verdict {
    let (entities, first, second) = (split(world)?, Messaged::new("new", "first")?, Messaged::new("new", "second")?);
    ensure_eq!(first.open(&*entities).await?, Opened::default(), "an entity that was never stored");
    let (commit, late) = (first.commit(&*entities).await?, second.commit(&*entities).await?);
    for strange in [0, 7, u64::MAX] {
        let early = Commit { opened: Some(Version::new(strange)), ..commit.clone() };
        ensure_eq!(entities.commit(&early).await?, Committed::Conflict, "a commit to a version that is not there");
    }
    ensure_eq!(first.open(&*entities).await?, Opened::default(), "the entity after that");
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the first commit");
    ensure_eq!(entities.commit(&late).await?, Committed::Conflict, "another that found it absent");
    Ok(())
}

pub(super) async fn a_commit_stores_the_state_and_its_entry(world: &World) -> Verdict {
    let entities = split(world)?;
    let changes = [
        (EntityChange::Keep, None),
        (EntityChange::Put(payload("one")?), Some(payload("one")?)),
        (EntityChange::Keep, Some(payload("one")?)),
        (EntityChange::Put(payload("")?), Some(payload("")?)),
        (EntityChange::Delete, None),
        (EntityChange::Keep, None),
        (EntityChange::Put(payload("two")?), Some(payload("two")?)),
    ];
    for (number, (change, state)) in changes.into_iter().enumerate() {
        let one = Messaged::new("entity", &format!("message-{number}"))?;
        let commit = Commit { change, ..one.commit(&*entities).await? };
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "commit {number}");
        let opened = one.open(&*entities).await?;
        ensure_eq!(opened.state, state, "the state after commit {number}");
        ensure_eq!(opened.entry, fresh_entry(&commit), "its entry");
        ensure!(opened.version.is_some() && opened.version != commit.opened, "commit {number} made no new version");
        ensure_eq!(opened.token_is_live, None, "a token that the call did not name");
    }
    Ok(())
}

pub(super) async fn a_commit_changes_no_other_entry(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    let commit = one.commit(&*entities).await?;
    let _ = entities.commit(&commit).await?;
    let _ = entities.register(&one.entry()?, &op("another")?).await?;
    for name in ["two", "three"] {
        let other = Messaged::new("entity", name)?;
        let _ = entities.commit(&other.commit(&*entities).await?).await?;
        let of_another = Messaged::new("neighbour", name)?;
        let _ = entities.commit(&of_another.commit(&*entities).await?).await?;
        let _ = entities.register(&other.entry()?, &op("more")?).await?;
        let _ = entities.choose(&other.entry()?, &op("more")?).await?;
        ensure!(entities.remove(&of_another.entry()?).await?, "the entry of another entity is not there");
    }
    let found = one.open(&*entities).await?.entry;
    let expected = fresh_entry(&commit).map(|mut entry| {
        entry.attempts.extend(op("another"));
        entry
    });
    ensure_eq!(found, expected, "an entry while others are added, chosen and removed");
    Ok(())
}

/// A message that has an entry is not committed again, even by a commit based on the current version.
pub(super) async fn a_message_that_has_an_entry_is_not_committed_again(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    ensure_eq!(entities.commit(&one.commit(&*entities).await?).await?, Committed::Committed, "the first commit");
    let expected = one.open(&*entities).await?;
    for change in [EntityChange::Put(payload("copy")?), EntityChange::Keep, EntityChange::Delete] {
        let copy = Commit { attempt: op("copy")?, change, ..one.commit(&*entities).await? };
        ensure_eq!(entities.commit(&copy).await?, Committed::Conflict, "a commit of another copy");
        ensure_eq!(one.open(&*entities).await?, expected, "the entity after that");
    }
    Ok(())
}

/// A commit that is repeated while its entry exists is recognised by its attempt, and never changes anything.
pub(super) async fn a_repeated_commit_changes_nothing(world: &World) -> Verdict {
    let (entities, one, two) = (split(world)?, Messaged::new("entity", "one")?, Messaged::new("entity", "two")?);
    let commit = one.commit(&*entities).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
    let version = one.open(&*entities).await?.version;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the same again");
    ensure_eq!(one.open(&*entities).await?.version, version, "the version after that");
    let _ = entities.commit(&two.commit(&*entities).await?).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the same behind another commit");
    ensure_eq!(two.open(&*entities).await?.state, Some(payload("two")?), "the state of the other commit");
    ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
    ensure_eq!(entities.commit(&commit).await?, Committed::Conflict, "the same when its entry is gone");
    ensure_eq!(one.open(&*entities).await?.entry, None, "its entry after that");
    Ok(())
}

pub(super) async fn the_first_choice_stays(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    let (_, entry) = (entities.commit(&one.commit(&*entities).await?).await?, one.entry()?);
    for attempt in ["second", "third"] {
        ensure_eq!(entities.register(&entry, &op(attempt)?).await?, Registered::Registered, "registering {attempt}");
    }
    let attempts = vec![op("one")?, op("second")?, op("third")?];
    let chosen = Some((Some(op("third")?), attempts));
    for attempt in ["third", "second", "one", "third"] {
        let answer = choice(entities.choose(&entry, &op(attempt)?).await?);
        ensure_eq!(answer, chosen, "choosing {attempt}");
    }
    let opened = one.open(&*entities).await?.entry.map(|entry| (entry.chosen, entry.attempts));
    ensure_eq!(opened, chosen, "the entry after that");
    Ok(())
}

/// An entry keeps all 40 attempts of its message.
pub(super) async fn every_attempt_of_many_is_kept(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    let (_, entry) = (entities.commit(&one.commit(&*entities).await?).await?, one.entry()?);
    let mut attempts = vec![op("one")?];
    for number in 2..=40 {
        let attempt = op(format!("attempt-{number}"))?;
        ensure_eq!(entities.register(&entry, &attempt).await?, Registered::Registered, "attempt {number}");
        attempts.push(attempt);
    }
    let found = one.open(&*entities).await?.entry.map(|entry| entry.attempts);
    ensure_eq!(found, Some(attempts.clone()), "the attempts that are kept");
    let chosen = Some((attempts.last().cloned(), attempts.clone()));
    ensure_eq!(choice(entities.choose(&entry, &attempts[39]).await?), chosen, "the choice of the last");
    Ok(())
}

pub(super) async fn an_attempt_that_is_not_registered_is_not_chosen(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    ensure_eq!(entities.choose(&one.entry()?, &op("one")?).await?, Chosen::Gone, "without an entry");
    let commit = one.commit(&*entities).await?;
    let _ = entities.commit(&commit).await?;
    ensure_eq!(entities.choose(&one.entry()?, &op("unknown")?).await?, Chosen::Gone, "an unknown attempt");
    ensure_eq!(one.open(&*entities).await?.entry, fresh_entry(&commit), "the entry after that");
    Ok(())
}

pub(super) async fn no_attempt_is_registered_after_the_choice(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    ensure_eq!(entities.register(&one.entry()?, &op("early")?).await?, Registered::Gone, "without an entry");
    let _ = entities.commit(&one.commit(&*entities).await?).await?;
    for attempt in ["second", "one", "second"] {
        let registered = entities.register(&one.entry()?, &op(attempt)?).await?;
        ensure_eq!(registered, Registered::Registered, "registering {attempt}");
    }
    let _ = entities.choose(&one.entry()?, &op("one")?).await?;
    let attempts = [op("one")?, op("second")?];
    for attempt in ["late", "second"] {
        let late = entities.register(&one.entry()?, &op(attempt)?).await?;
        ensure_matches!(
            late,
            Registered::Chosen(entry) if entry.attempts == attempts && entry.chosen == Some(op("one")?),
            "registering {attempt} after the choice"
        );
    }
    let found = one.open(&*entities).await?.entry.map(|entry| entry.attempts);
    ensure_eq!(found, Some(attempts.to_vec()), "the attempts in the end");
    Ok(())
}

pub(super) async fn every_client_opens_the_same(world: &World) -> Verdict {
    let (mine, other) = (split(world)?, entities_of(&world.client().await?)?);
    for number in 0..10 {
        let one = Messaged::new("entity", &format!("message-{number}"))?;
        let commit = one.commit(&*other).await?;
        ensure_eq!(mine.commit(&commit).await?, Committed::Committed, "a commit");
        let late = entities_of(&world.client().await?)?;
        let expected = one.open(&*mine).await?;
        ensure_eq!(expected.entry, fresh_entry(&commit), "its entry");
        for reader in [&other, &late] {
            ensure_eq!(one.open(&**reader).await?, expected, "what another client opens");
        }
        ensure!(late.remove(&one.entry()?).await?, "another client does not find the entry");
        ensure_eq!(one.open(&*mine).await?.entry, None, "an entry that another client removed");
    }
    Ok(())
}

pub(super) async fn removing_again_changes_nothing(world: &World) -> Verdict {
    let (entities, one) = (split(world)?, Messaged::new("entity", "one")?);
    ensure!(!entities.remove(&one.entry()?).await?, "an entry that never existed is removed");
    let _ = entities.commit(&one.commit(&*entities).await?).await?;
    let version = one.open(&*entities).await?.version;
    // A backend may distinguish calls by their time.
    world.pass(Duration::from_millis(2)).await;
    ensure!(!entities.remove(&one.entry_of("another")?).await?, "the entry is removed by the name of another commit");
    ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
    for _ in 0..2 {
        ensure!(!entities.remove(&one.entry()?).await?, "an entry is removed twice");
    }
    let opened = one.open(&*entities).await?;
    ensure_eq!(opened.version, version, "the version, which removing does not change");
    ensure_eq!(opened.state, Some(payload("one")?), "the state, which removing does not change");
    let again = Commit { attempt: op("again")?, ..one.commit(&*entities).await? };
    let _ = entities.commit(&again).await?;
    world.pass(Duration::from_millis(2)).await;
    ensure!(
        !entities.remove(&one.entry()?).await?,
        "the earlier entry's name removes the later entry of the same message"
    );
    ensure_eq!(one.open(&*entities).await?.entry, fresh_entry(&again), "the later entry");
    Ok(())
}
