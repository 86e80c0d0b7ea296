//! ER-1: calls that certainly changed nothing, and calls that may have.

use std::fmt::Debug;
use std::time::Duration;

use storagebox_core::{
    Backend, Certainty, Change, ClaimId, ClaimState, Counter, Cursor, DedupId, DedupRepo, Error, ErrorKind, Hold, Item,
    ItemBank, Key, LeaseRepo, OpId, OrderedOptions, OrderedStore, Payload, Result, Retention, Stamp, Strategy, TokenId,
    TokenStore, Version, WriterId,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

/// Each kind of error, and whether its errors are retryable.
pub(super) const KINDS: [(ErrorKind, bool); 11] = [
    (ErrorKind::InvalidInput, false),
    (ErrorKind::Misconfigured, false),
    (ErrorKind::TooLarge, false),
    (ErrorKind::NotSetUp, false),
    (ErrorKind::Unsupported, false),
    (ErrorKind::Contention, true),
    (ErrorKind::Throttled, true),
    (ErrorKind::Unavailable, true),
    (ErrorKind::OutcomeUnknown, true),
    (ErrorKind::Denied, false),
    (ErrorKind::Corrupt, false),
];

pub(super) async fn each_kind_has_its_certainty(_: &World) -> Verdict {
    for (kind, retryable) in KINDS {
        let error = Error::new(kind, "the call failed");
        let expected = if kind == ErrorKind::OutcomeUnknown { Certainty::Unknown } else { Certainty::NotApplied };
        ensure_eq!(error.kind(), kind, "the kind");
        ensure_eq!(error.certainty(), expected, "the certainty of {kind:?}");
        ensure_eq!(error.is_retryable(), retryable, "whether {kind:?} is tried again");
    }
    Ok(())
}

pub(super) async fn a_step_after_an_unresolved_one_is_unknown(_: &World) -> Verdict {
    for (kind, retryable) in KINDS {
        let error = Error::new(kind, "the call failed").after_unresolved();
        // The kind must not say that nothing was applied.
        let expected = if retryable { ErrorKind::OutcomeUnknown } else { kind };
        ensure_eq!(error.kind(), expected, "the kind of {kind:?} after an unresolved step");
        ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {kind:?} after an unresolved step");
        ensure_eq!(error.is_retryable(), retryable, "whether {kind:?} is tried again");
    }
    Ok(())
}

/// If a store would not recognise a repetition, only an error of known outcome is retryable.
pub(super) async fn what_would_not_be_known_again_is_not_retryable(_: &World) -> Verdict {
    for (kind, retryable) in KINDS {
        let error = Error::new(kind, "the call failed").unrepeatable();
        let expected = retryable && kind != ErrorKind::OutcomeUnknown;
        ensure_eq!(error.is_retryable(), expected, "whether {error} is tried again");
        let error = error.after_unresolved();
        ensure!(!error.is_retryable(), "{error} is tried again");
        let advice = error.advice();
        ensure!(!advice.contains("call again with the same id"), "{error}: {advice} asks for the same call");
    }
    Ok(())
}

fn ensure_refused<T: Debug>(what: &str, answer: Result<T>) -> Verdict {
    let error = ensure_matches!(answer, Err(error) => error, "{what}");
    ensure_eq!(error.kind(), ErrorKind::InvalidInput, "the kind of {error}");
    ensure_eq!(error.certainty(), Certainty::NotApplied, "the certainty of {error}");
    Ok(())
}

pub(super) async fn what_is_refused_surely_changed_nothing(world: &World) -> Verdict {
    let (bank, records) = (world.filled(2).await?, world.dedup()?);
    let ordered = world.ordered(OrderedOptions::sequence())?;
    let (claim, id, nothing) = (ClaimId::new("ada")?, DedupId::new("id")?, Duration::ZERO);
    let (value, op) = (Payload::try_from("value")?, OpId::new("op")?);
    ensure_refused("a take for no time", bank.take(&claim, Hold::For(nothing)).await)?;
    ensure_eq!(bank.get(&claim).await?, ClaimState::Unknown, "the claim that was refused");
    let recorded = records.record(&id, &value, &op, Retention::For(nothing)).await;
    ensure_refused("a record for no time", recorded)?;
    ensure_eq!(records.get(&id).await?, None, "the record that was refused");
    ensure_refused("a lease for no time", world.leases()?.begin(&id, &op, nothing, None).await)?;

    let stranger = Cursor::new("\u{1f}not a cursor");
    ensure_refused("a listing of items without a limit", bank.list(None, 0).await)?;
    ensure_refused("a listing of items by a stranger's cursor", bank.list(Some(&stranger), 10).await)?;
    ensure_refused("a listing of records without a limit", records.list(None, 0).await)?;
    ensure_refused("a listing of records by a stranger's cursor", records.list(Some(&stranger), 10).await)?;
    ensure_refused("a listing of values without a limit", ordered.list(None, None, 0).await)?;
    ensure_refused("a listing of values by a stranger's cursor", ordered.list(None, Some(&stranger), 10).await)?;
    ensure_eq!(bank.counts().await?.free, 2, "free items after all that");
    Ok(())
}

/// For every trait, a call returns an error of unknown outcome if its request is lost, its reply is lost or its request
/// is late.
pub(super) async fn a_lost_call_of_any_trait_is_unknown(world: &World) -> Verdict {
    for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late] {
        let link = Link::script([fate; 64]);
        let store = link.before_store(world.store());
        for (what, answer) in calls(&*store).await? {
            let error = ensure_matches!(answer, Err(error) => error, "{what} that is lost");
            ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of a {what} that is lost");
            ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of a {what} that is lost");
        }
    }
    Ok(())
}

async fn calls(store: &dyn Backend) -> Result<Vec<(&'static str, Result<()>)>> {
    let (bank, records, leases) = (
        store.item_bank(&"bank".parse()?)?,
        store.dedup_repo(&"records".parse()?)?,
        store.lease_repo(&"records".parse()?)?,
    );
    let (tokens, counter) =
        (store.token_store(&"tokens".parse()?)?, store.counter(&"counters".parse()?, Strategy::default())?);
    let ordered = store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
    let (item, claim, id) = (Item::new("item")?, ClaimId::new("ada")?, DedupId::new("id")?);
    let (op, key, value) = (OpId::new("op")?, Key::new("key")?, Payload::default());
    let (items, token, stamp) = ([item], TokenId::new("token")?, Stamp::new(1, WriterId::new("w")?));
    let (second, change) = (Duration::from_secs(1), Change::new(op.clone(), 1));
    Ok(vec![
        ("add", bank.add(&items).await.map(drop)),
        ("take", bank.take(&claim, Hold::Forever).await.map(drop)),
        ("extend", bank.extend(&claim, Hold::Forever).await.map(drop)),
        ("confirm", bank.confirm(&claim).await.map(drop)),
        ("release", bank.release(&claim).await.map(drop)),
        ("retire", bank.retire(&claim).await.map(drop)),
        ("withdraw", bank.withdraw(&items).await.map(drop)),
        ("restore", bank.restore(&items).await.map(drop)),
        ("record", records.record(&id, &value, &op, Retention::Forever).await.map(drop)),
        ("replace", records.replace(&id, Version::new(1), &value, &op).await.map(drop)),
        ("forget", records.forget(&id, Version::new(1)).await.map(drop)),
        ("begin", leases.begin(&id, &op, second, None).await.map(drop)),
        ("create", tokens.create_tokens(std::slice::from_ref(&token)).await.map(drop)),
        ("consume", tokens.consume(&token, &op).await.map(drop)),
        ("discard", tokens.discard(&[token]).await.map(drop)),
        ("apply", counter.apply(&key, &change).await.map(drop)),
        ("cancel", counter.cancel(&key, &op).await.map(drop)),
        ("put", ordered.put(&key, &value, &stamp).await.map(drop)),
        ("delete", ordered.delete(&key, &stamp).await.map(drop)),
        ("reset", ordered.reset(&key, &stamp).await.map(drop)),
        ("purge", ordered.purge(second, 1).await.map(drop)),
        ("setup", store.setup().await),
        ("maintain", store.maintain(1).await.map(drop)),
    ])
}
