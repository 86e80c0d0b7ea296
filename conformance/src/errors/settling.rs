//! ER-4: after a lost attempt, an outcome is answered only if that attempt can no longer change anything.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{LayeredPart, OnePart};
use storagebox_core::{
    Backend, Begun, Bounds, Cancelled, Certainty, Change, ClaimId, ClaimState, Confirmed, Counted, Counter, DedupId,
    DedupRepo, End, ErrorKind, Extended, Fingerprint, Hold, ItemBank, Key, LeaseRepo, OpId, Payload, Recorded,
    Released, Result, Retention, Retired, Retry, Strategy, Taken, TokenId, TokenStore,
};

use super::retry::Counting;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::{World, items};

/// Returns the part behind a link whose first request is still in flight when the second is answered.
fn late<P: OnePart + ?Sized>(inner: &Arc<P>) -> (Arc<LayeredPart<P>>, Arc<Link>) {
    let link = Link::script([Fate::Late]);
    (link.before(inner), link)
}

fn ensure_open<T: Debug>(what: &str, answer: Result<T>) -> Verdict {
    let error = ensure_matches!(answer, Err(error) => error, "{what} after a lost attempt");
    ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}");
    ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
    Ok(())
}

pub(super) async fn an_empty_bank_settles_no_lost_take(world: &World) -> Verdict {
    let (bank, claim, timer) = (world.filled(0).await?, ClaimId::new("ada")?, Counting::default());
    let (far, link) = late(&bank);
    ensure_open("Empty", Retry::default().call(&timer, || far.take(&claim, Hold::Forever)).await)?;
    // The reason: the lost attempt lands when there is an item.
    bank.add(&items(1)?).await?;
    link.land().await;
    let taken = bank.take(&claim, Hold::Forever).await?;
    ensure_matches!(taken, Taken::Again(_), "the claim after its lost take has landed");
    for fate in [Fate::RequestLost, Fate::ReplyLost] {
        let far = Link::script([fate]).before(&bank);
        let other = ClaimId::new("bob")?;
        ensure_open("Empty", Retry::default().call(&timer, || far.take(&other, Hold::Forever)).await)?;
    }
    let sure = Retry::default().call(&timer, || bank.take(&claim, Hold::Forever)).await?;
    ensure_matches!(sure, Taken::Again(_), "a call without faults");
    Ok(())
}

pub(super) async fn an_unknown_claim_settles_nothing(world: &World) -> Verdict {
    let (bank, claim, timer) = (world.filled(1).await?, ClaimId::new("ada")?, Counting::default());
    let (confirming, confirm) = late(&bank);
    ensure_open("Unknown", Retry::default().call(&timer, || confirming.confirm(&claim)).await)?;
    let (extending, extend) = late(&bank);
    ensure_open("Unknown", Retry::default().call(&timer, || extending.extend(&claim, Hold::Forever)).await)?;
    let _ = bank.take(&claim, Hold::For(world.short())).await?;
    extend.land().await;
    confirm.land().await;
    let confirmed = bank.confirm(&claim).await?;
    ensure_matches!(confirmed, Confirmed::Confirmed(_), "the claim after its lost confirm has landed");
    let sure = Retry::default().call(&timer, || bank.confirm(&claim)).await?;
    ensure_matches!(sure, Confirmed::Confirmed(_), "a call without faults");
    Ok(())
}

pub(super) async fn a_holder_settles_no_lost_retire(world: &World) -> Verdict {
    let (bank, claim, timer) = (world.filled(1).await?, ClaimId::new("ada")?, Counting::default());
    let _ = bank.take(&claim, Hold::Forever).await?;
    let (far, link) = late(&bank);
    ensure_open("Holding", Retry::default().call(&timer, || far.retire(&claim)).await)?;
    // The reason: the lost attempt lands after the claim has ended, and removes its fence.
    let _ = bank.release(&claim).await?;
    link.land().await;
    ensure_eq!(bank.get(&claim).await?, ClaimState::Unknown, "the claim after its lost retire has landed");
    let _ = bank.take(&claim, Hold::Forever).await?;
    let sure = Retry::default().call(&timer, || bank.retire(&claim)).await?;
    ensure_eq!(sure, Retired::Holding, "a call without faults");
    Ok(())
}

pub(super) async fn anothers_lease_settles_nothing(world: &World) -> Verdict {
    let (leases, records, timer) = (world.leases()?, world.dedup()?, Counting::default());
    let (op, other, long) = (OpId::new("op")?, OpId::new("other")?, Duration::from_secs(3_600));
    let (beginning, recording) = (DedupId::new("beginning")?, DedupId::new("recording")?);
    for id in [&beginning, &recording] {
        let begun = leases.begin(id, &other, long, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
        let (far, begin) = late(&leases);
        let answer = Retry::default().call(&timer, || far.begin(id, &op, long, None)).await;
        ensure_open("InFlight", answer)?;
        let (far, record) = late(&records);
        let value = Payload::try_from("value")?;
        let answer = Retry::default().call(&timer, || far.record(id, &value, &op, Retention::Forever)).await;
        ensure_open("InFlight", answer)?;
        let _ = leases.abort(&lease).await?;
        if *id == beginning {
            begin.land().await;
            let begun = leases.begin(id, &OpId::new("third")?, long, None).await?;
            ensure_matches!(begun, Begun::InFlight { .. }, "after the lost begin has landed");
        } else {
            record.land().await;
            ensure!(records.get(id).await?.is_some(), "the lost record has landed and is not there");
        }
    }
    Ok(())
}

pub(super) async fn a_mismatch_settles_no_lost_begin(world: &World) -> Verdict {
    let (leases, timer, id) = (world.leases()?, Counting::default(), DedupId::new("id")?);
    let (op, other, long) = (OpId::new("op")?, OpId::new("other")?, Duration::from_secs(3_600));
    let (mine, theirs) = (Fingerprint::new("mine")?, Fingerprint::new("theirs")?);
    let begun = leases.begin(&id, &other, long, Some(&theirs)).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
    let (far, link) = late(&leases);
    let answer = Retry::default().call(&timer, || far.begin(&id, &op, long, Some(&mine))).await;
    ensure_open("Mismatch", answer)?;
    // The reason: the other operation aborts, and then the lost attempt lands.
    let _ = leases.abort(&lease).await?;
    link.land().await;
    let begun = leases.begin(&id, &OpId::new("third")?, long, None).await?;
    ensure_matches!(begun, Begun::InFlight { .. }, "after the lost begin has landed");
    Ok(())
}

pub(super) async fn a_rejected_change_settles_nothing(world: &World) -> Verdict {
    let (counter, timer) = (world.counter(Strategy::default())?, Counting::default());
    let key = Key::new("stock")?;
    let sell = Change::new(OpId::new("sell")?, -1).within(Bounds::at_least(0));
    let (far, link) = late(&counter);
    ensure_open("OutOfBounds", Retry::default().call(&timer, || far.apply(&key, &sell)).await)?;
    let _ = counter.apply(&key, &Change::new("fill".parse()?, 1)).await?;
    link.land().await;
    ensure_eq!(counter.value(&key).await?, 0, "the stock after the lost sale has landed");

    let full = Key::new("full")?;
    let _ = counter.apply(&full, &Change::new("fill".parse()?, i64::MAX)).await?;
    let more = Change::new(OpId::new("more")?, 1);
    let (far, _) = late(&counter);
    ensure_open("Overflow", Retry::default().call(&timer, || far.apply(&full, &more)).await)?;
    let sure = Retry::default().call(&timer, || counter.apply(&full, &more)).await?;
    ensure_eq!(sure, Counted::Overflow, "a call without faults");
    Ok(())
}

pub(super) async fn a_full_window_settles_nothing(world: &World) -> Verdict {
    let window = Strategy::Window { lifetime: Duration::from_secs(3_600), capacity: 1 };
    let (counter, timer, key) = (world.counter(window)?, Counting::default(), Key::new("key")?);
    let _ = counter.apply(&key, &Change::new("first".parse()?, 1)).await?;
    let (far, _) = late(&counter);
    let second = Change::new(OpId::new("second")?, 1);
    ensure_open("Full", Retry::default().call(&timer, || far.apply(&key, &second)).await)?;
    let sure = Retry::default().call(&timer, || counter.apply(&key, &second)).await?;
    ensure_eq!(sure, Counted::Full, "a call without faults");
    if counter.cancel(&key, &second.op).await? == Cancelled::Full {
        let (far, _) = late(&counter);
        ensure_open("Full", Retry::default().call(&timer, || far.cancel(&key, &second.op)).await)?;
    }
    Ok(())
}

/// These answers name a state that no lost attempt can change.
pub(super) async fn what_is_final_settles_what_was_lost(world: &World) -> Verdict {
    let (bank, records, counter) = (world.filled(2).await?, world.dedup()?, world.counter(Strategy::default())?);
    let (retry, timer, claim) = (Retry::default(), Counting::default(), ClaimId::new("ada")?);
    let (far, link) = late(&bank);
    ensure_matches!(retry.call(&timer, || far.take(&claim, Hold::Forever)).await?, Taken::New(_), "a take");
    link.land().await;
    let (far, _) = late(&bank);
    let extended = retry.call(&timer, || far.extend(&claim, Hold::Forever)).await?;
    ensure_matches!(extended, Extended::Extended(_), "an extend");
    let (far, _) = late(&bank);
    ensure_eq!(retry.call(&timer, || far.release(&claim)).await?, Released::Released, "a release");
    let (far, link) = late(&bank);
    let ended = retry.call(&timer, || far.take(&claim, Hold::Forever)).await?;
    ensure_eq!(ended, Taken::Ended(End::Released), "a take of an ended claim");
    link.land().await;
    ensure_eq!(bank.counts().await?.free, 2, "free items after all of that");

    let (id, op, value) = (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value")?);
    let (far, _) = late(&records);
    let recorded = retry.call(&timer, || far.record(&id, &value, &op, Retention::Forever)).await?;
    ensure_matches!(recorded, Recorded::New(_), "a record");
    let (far, link) = late(&counter);
    let (key, change) = (Key::new("key")?, Change::new(op.clone(), 5));
    let counted = retry.call(&timer, || far.apply(&key, &change)).await?;
    ensure_matches!(counted, Counted::Applied { .. }, "a change");
    link.land().await;
    ensure_eq!(counter.value(&key).await?, 5, "the value after the change has landed twice");
    let (tokens, token) = (world.tokens()?, TokenId::new("token")?);
    let (far, _) = late(&tokens);
    retry.call(&timer, || far.create_tokens(std::slice::from_ref(&token))).await?;
    let _ = retry.call(&timer, || far.consume(&token, &op)).await?;
    ensure!(!tokens.exists(&token).await?, "a consumed token exists");
    Ok(())
}

/// Retried takes from a bank that runs empty: a claim that was answered `Empty` never gets an item, whatever lands
/// later, and a claim that was answered an item keeps it.
pub(super) async fn random_faults_never_answer_what_may_still_change(world: &World) -> Verdict {
    let (mut rng, timer) = (world.rng(), Counting::default());
    for round in 0..world.profile().rounds {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(5)?).await?;
        // Lost or late requests only: a caller cannot know of a duplicate of a request that was answered.
        let fates = [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Delivered, Fate::Delivered];
        let link = Link::script((0..120).map(|_| fates[rng.usize(..fates.len())]));
        let far = link.before(&bank);
        let (mut holding, mut empty) = (Vec::new(), Vec::new());
        for number in 0..20 {
            let claim = ClaimId::new(format!("claim-{number}"))?;
            match Retry::default().call(&timer, || far.take(&claim, Hold::Forever)).await {
                Ok(Taken::New(held) | Taken::Again(held)) => holding.push((claim, held.item)),
                Ok(Taken::Empty) => empty.push(claim),
                Ok(Taken::Ended(end)) => {
                    return Err(Failure::new(format!("{claim:?} ended by itself: {end:?}")));
                }
                Err(error) => ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}"),
            }
        }
        bank.add(&items(60)?).await?;
        link.land().await;
        for claim in empty {
            let state = bank.get(&claim).await?;
            ensure_eq!(state, ClaimState::Unknown, "{claim:?}, which was answered Empty");
        }
        for (claim, item) in holding {
            let held = bank.take(&claim, Hold::Forever).await?;
            ensure_eq!(held.item(), Some(&item), "the item of {claim:?}");
        }
    }
    Ok(())
}
