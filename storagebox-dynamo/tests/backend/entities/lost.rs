//! Commits and other calls whose replies are lost, or whose requests arrive late.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Chosen, Commit, Committed, EntityLedger, ErrorKind, ManualClock, Registered, Result, TokenStore,
};
use storagebox_testkit::checks::entities::{commit_of, entry, joined, key, split};
use storagebox_testkit::checks::id;
use storagebox_testkit::dynamodb::faults::Fault;

use super::exchange_of;
use crate::scene::{Gate, recorded, with_place};
use crate::support::failed;

/// The pause after which a token is older than the current millisecond.
const MOMENT: Duration = Duration::from_millis(1);
/// How far clocks may be apart.
const SKEW: Duration = Duration::from_secs(1);

const LOSSES: [Fault; 6] =
    [Fault::DropBefore, Fault::DropAfter, Fault::ErrorBefore, Fault::ErrorAfter, Fault::Torn, Fault::Twice];

#[test]
fn a_commit_with_a_lost_reply_is_made_once() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (entities, tokens) = joined(&store)?;
        for fault in LOSSES {
            let (name, consumed) = (format!("{fault:?}"), id(&format!("in of {fault:?}")));
            tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
            place.clock.advance(MOMENT);
            let consume = Some(consumed.clone());
            let commit = Commit { consume, ..exchange_of(&*entities, &name).await? };
            faults.script_for("TransactWriteItems", [fault]);
            assert_eq!(entities.commit(&commit).await?, Committed::Committed, "{fault:?}");
            let opened = entities.open(&key(), &id(&name), Some(&consumed)).await?;
            assert_eq!(
                (opened.state, opened.token_is_live),
                (Some(name.as_str().try_into()?), Some(false)),
                "{fault:?}"
            );
            assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![id(&name)]), "{fault:?}");
            assert!(tokens.exists(&commit.create[1]).await?, "{fault:?}");
        }
        assert_eq!(faults.total(), LOSSES.len() as u64);
        Ok(())
    })
}

/// The reply to the first attempt is lost. DynamoDB treats the second attempt as another transaction, because its time
/// is later.
#[test]
fn a_commit_repeated_after_a_lost_reply_returns_committed() -> Result<()> {
    for has_entry in [true, false] {
        with_place(async |place| {
            let gate = Gate::default();
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let (entities, tokens) = joined(&store)?;
            tokens.create_tokens(&[id("in")]).await?;
            place.clock.advance(MOMENT);
            let commit = Commit { consume: Some(id("in")), ..commit_of(&*entities, "a").await? };
            let commit = if has_entry { commit } else { Commit { entry: None, ..commit } };
            faults.script_for("TransactWriteItems", [Fault::DropAfter, Gate::HOLD]);
            let (late, repeated) = (Arc::clone(&entities), commit.clone());
            let late = tokio::spawn(async move { late.commit(&repeated).await });
            gate.reached().await;
            place.clock.advance(MOMENT);
            let (other, _) = joined(&place.store().await?)?;
            let next = commit_of(&*other, "b").await?;
            assert!(next.opened.is_some(), "the first attempt was made");
            assert_eq!(other.commit(&next).await?, Committed::Committed);
            gate.open();
            assert_eq!(late.await.map_err(failed)??, Committed::Committed, "with an entry: {has_entry}");
            assert_eq!(other.open(&key(), &id("a"), None).await?.state, Some("b".try_into()?));
            Ok(())
        })?;
    }
    Ok(())
}

/// The call finds no token. The token is created before a late attempt of the call arrives.
#[test]
fn a_late_commit_consumes_no_token_that_was_created_later() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (entities, tokens) = joined(&store)?;
        assert!(!tokens.exists(&id("in")).await?);
        let commit = exchange_of(&*entities, "a").await?;
        faults.script_for("TransactWriteItems", [Fault::Parked]);
        assert_eq!(entities.commit(&commit).await?, Committed::TokenGone);
        tokens.create_tokens(&[id("in")]).await?;
        faults.land().await;
        let opened = entities.open(&key(), &id("a"), Some(&id("in"))).await?;
        assert_eq!((opened.version, opened.token_is_live), (None, Some(true)));
        assert_eq!(entities.commit(&commit).await?, Committed::Committed, "one that knows the token");
        Ok(())
    })
}

/// A failed condition counts only if the service evaluated all writes of the transaction.
#[test]
fn a_commit_is_retried_after_conflicts_and_throttles() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (entities, tokens) = joined(&store)?;
        tokens.create_tokens(&[id("in")]).await?;
        let commit = exchange_of(&*entities, "a").await?;
        let all = [Fault::Conflict, Fault::Throttle, Fault::Throttle, Fault::InProgress, Fault::Mixed];
        faults.script_for("TransactWriteItems", all);
        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        faults.script_for("TransactWriteItems", [Fault::Mixed; 8]);
        assert_eq!(entities.commit(&commit).await?, Committed::Committed, "again, each part once not judged");
        faults.script_for("TransactGetItems", [Fault::Conflict, Fault::Throttle, Fault::DropAfter, Fault::Torn]);
        assert!(entities.open(&key(), &id("a"), Some(&id("in"))).await?.entry.is_some());
        assert!(faults.total() > 10);
        Ok(())
    })
}

/// The table is at its throughput limit all the time.
#[test]
fn a_commit_that_is_always_throttled_changes_nothing() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let entities = split(&store)?;
        let commit = commit_of(&*entities, "a").await?;
        faults.script_for("TransactWriteItems", [Fault::Throttle; 100]);
        assert_eq!(entities.commit(&commit).await.unwrap_err().kind(), ErrorKind::Throttled);
        faults.heal();
        assert!(entities.open(&key(), &id("a"), None).await?.version.is_none());
        Ok(())
    })
}

#[test]
fn registrations_and_choices_with_lost_replies_are_made_once() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let entities = split(&store)?;
        for fault in LOSSES {
            let name = format!("{fault:?}");
            let _ = entities.commit(&commit_of(&*entities, &name).await?).await?;
            faults.script_for("UpdateItem", [fault]);
            let registered = entities.register(&entry(&name), &id("second")).await?;
            assert_eq!(registered, Registered::Registered, "{fault:?}");
            faults.script_for("UpdateItem", [fault]);
            let Chosen::Chosen(entry) = entities.choose(&entry(&name), &id("second")).await? else {
                panic!("{fault:?}")
            };
            assert_eq!((entry.chosen, entry.attempts.len()), (Some(id("second")), 2), "{fault:?}");
        }
        Ok(())
    })
}

/// A call finds no entry. The entry is created before a late request of the call arrives.
#[test]
fn a_late_request_does_not_change_a_newer_entry() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let entities = split(&store)?;
        let (a, commit) = (entry("a"), commit_of(&*entities, "a").await?);
        faults.script_for("UpdateItem", [Fault::Parked, Gate::PASS, Fault::Parked, Gate::PASS, Fault::Parked]);
        assert_eq!(entities.register(&a, &id("late")).await?, Registered::Gone);
        assert_eq!(entities.choose(&a, &id("a")).await?, Chosen::Gone);
        assert!(!entities.remove(&a).await?);
        let _ = entities.commit(&commit).await?;
        let expected = entities.open(&key(), &a.message, None).await?;
        faults.land().await;
        assert_eq!(entities.open(&key(), &a.message, None).await?, expected);

        faults.script_for("UpdateItem", [Fault::Parked]);
        assert_eq!(entities.choose(&a, &id("second")).await?, Chosen::Gone, "it is not registered");
        assert_eq!(entities.register(&a, &id("second")).await?, Registered::Registered);
        faults.land().await;
        assert_eq!(entities.open(&key(), &a.message, None).await?.entry.unwrap().chosen, None);
        Ok(())
    })
}

/// A commit finds an entry, and returns a conflict. The entry is removed before a late request of this commit arrives.
#[test]
fn a_late_commit_stays_a_conflict_after_the_entry_is_removed() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let entities = split(&store)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let another = Commit { attempt: id("another"), ..commit_of(&*entities, "a").await? };
        faults.script_for("TransactWriteItems", [Fault::Parked]);
        assert_eq!(entities.commit(&another).await?, Committed::Conflict);
        assert!(entities.remove(&entry("a")).await?);
        let expected = entities.open(&key(), &id("a"), None).await?;
        faults.land().await;
        assert_eq!(entities.open(&key(), &id("a"), None).await?, expected);
        assert_eq!(entities.commit(&another).await?, Committed::Committed, "one that finds no entry");
        Ok(())
    })
}

/// If the message has another entry, nothing shows whether the lost attempt removed the first entry.
#[test]
fn a_lost_removal_has_an_unknown_outcome_if_a_newer_entry_exists() -> Result<()> {
    for behind in [Duration::ZERO, SKEW / 2] {
        removed_before_a_newer_entry(behind)?;
    }
    Ok(())
}

/// The clock of the client that adds the newer entry is `behind` that of the client that removes the older one.
fn removed_before_a_newer_entry(behind: Duration) -> Result<()> {
    with_place(async |place| {
        let (gate, slow) = (Gate::default(), ManualClock::new());
        let builder = || place.builder().max_skew(SKEW);
        let (store, faults) = gate.store(&place.table, builder()).await?;
        let (slow_store, _) = recorded(&place.table, builder().clock(slow.clone())).await?;
        let (entities, other) = (split(&store)?, split(&slow_store)?);
        place.clock.advance(behind);
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        for clock in [&place.clock, &slow] {
            clock.advance(2 * SKEW);
        }
        faults.script_for("UpdateItem", [Fault::DropAfter, Gate::HOLD]);
        let late = tokio::spawn(async move { entities.remove(&entry("a")).await });
        gate.reached().await;
        let again = Commit { attempt: id("again"), ..commit_of(&*other, "a").await? };
        assert_eq!(other.commit(&again).await?, Committed::Committed);
        gate.open();
        assert_eq!(late.await.map_err(failed)?.unwrap_err().kind(), ErrorKind::OutcomeUnknown, "{behind:?} behind");
        assert!(!other.remove(&entry("a")).await?);
        assert!(other.open(&key(), &id("a"), None).await?.entry.is_some());
        Ok(())
    })
}
