//! ER-5: a refusal is an answer, also after a lost attempt. The lost attempt changes nothing when it arrives.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{LayeredPart, OnePart};
use storagebox_core::{
    Attempt, Begun, Certainty, Change, ClaimId, ClaimState, Completed, Confirmed, Counted, Counter, DedupId, DedupRepo,
    End, ErrorKind, Extended, Fingerprint, Hold, HoldState, ItemBank, Key, LeaseRepo, OpId, Payload, Recorded,
    Released, Result, Retention, Retired, Retry, Strategy, Taken, TokenId, TokenStore,
};

use super::retry::Counting;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::{answered, race};
use crate::world::{World, items};

/// The fates of the lost attempts of four calls.
const LOST: [&[Fate]; 4] =
    [&[Fate::Late], &[Fate::RequestLost], &[Fate::ReplyLost], &[Fate::Late, Fate::ReplyLost, Fate::Late]];

fn lost<P: OnePart + ?Sized>(inner: &Arc<P>, fates: &[Fate]) -> (Arc<LayeredPart<P>>, Arc<Link>) {
    let link = Link::script(fates.iter().copied());
    (link.before(inner), link)
}

/// Returns the part behind a link on which the first request lands after the second request.
fn late<P: OnePart + ?Sized>(inner: &Arc<P>) -> (Arc<LayeredPart<P>>, Arc<Link>) {
    lost(inner, &[Fate::Late])
}

async fn retried<T, F>(call: impl FnMut(Attempt) -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    Retry::default().call(&Counting::default(), call).await
}

fn long() -> Hold {
    Hold::For(Duration::from_secs(3_600))
}

pub(super) async fn an_empty_bank_stays_empty_for_a_lost_take(world: &World) -> Verdict {
    let bank = world.filled(0).await?;
    let (mut links, mut claims) = (Vec::new(), Vec::new());
    for (number, fates) in LOST.into_iter().enumerate() {
        let (far, link) = lost(&bank, fates);
        let claim = ClaimId::new(format!("claim-{number}"))?;
        let taken = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
        ensure_eq!(taken, Taken::Empty, "a take after attempts whose fate was {fates:?}");
        ensure_eq!(bank.get(&claim).await?, ClaimState::Unknown, "a refused claim");
        links.push(link);
        claims.push(claim);
    }
    bank.add(&items(LOST.len())?).await?;
    for link in links {
        link.land().await;
    }
    ensure_eq!(bank.counts().await?.free, LOST.len() as u64, "free items after the lost takes have arrived");
    for claim in claims {
        ensure_eq!(bank.get(&claim).await?, ClaimState::Unknown, "{claim:?}, which was refused");
        let taken = bank.take(&claim, Hold::Forever).await?;
        ensure_matches!(taken, Taken::New(_), "another call of {claim:?}, after the delivery");
    }
    Ok(())
}

/// A lost attempt of a refused take changes nothing, even if the attempt arrives after another take of the claim or
/// after the end of the claim.
pub(super) async fn a_lost_take_is_void_after_its_claim_took(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(0).await?, ClaimId::new("ada")?);
    let (while_held, while_ended) = (late(&bank), late(&bank));
    for far in [&while_held.0, &while_ended.0] {
        let taken = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
        ensure_eq!(taken, Taken::Empty, "a take from an empty bank");
    }
    bank.add(&items(2)?).await?;
    let taken = bank.take(&claim, Hold::Forever).await?;
    let item = ensure_matches!(taken, Taken::New(held) => held.item, "another call of the claim");
    while_held.1.land().await;
    let again = bank.take(&claim, Hold::Forever).await?;
    ensure_eq!(again.item(), Some(&item), "the item of the claim");
    ensure_eq!(bank.counts().await?.held, 1, "items held by one claim");
    ensure_eq!(bank.release(&claim).await?, Released::Released, "a release");
    while_ended.1.land().await;
    ensure_eq!(bank.get(&claim).await?, ClaimState::Ended(End::Released), "the claim after its release");
    ensure_eq!(bank.counts().await?.free, 2, "free items after all of that");
    Ok(())
}

pub(super) async fn an_unknown_claim_is_neither_confirmed_nor_extended_later(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(1).await?, ClaimId::new("ada")?);
    let ((confirming, confirm), (extending, extend)) = (late(&bank), late(&bank));
    let confirmed = retried(|attempt| confirming.attempt_confirm(attempt, &claim)).await?;
    ensure_eq!(confirmed, Confirmed::Unknown, "a confirm of an unknown claim");
    let extended = retried(|attempt| extending.attempt_extend(attempt, &claim, Hold::Forever)).await?;
    ensure_eq!(extended, Extended::Unknown, "an extend of an unknown claim");
    let taken = bank.take(&claim, long()).await?;
    ensure_matches!(taken, Taken::New(_), "a take by the claim that could not be confirmed");
    confirm.land().await;
    extend.land().await;
    let state = bank.get(&claim).await?;
    ensure_matches!(state, ClaimState::Held(held) if matches!(held.hold, HoldState::Remaining(_)), "the hold of the claim");
    ensure_matches!(bank.extend(&claim, Hold::Forever).await?, Extended::Extended(_), "another call that extends");
    ensure_matches!(bank.confirm(&claim).await?, Confirmed::Confirmed(_), "another call that confirms");
    Ok(())
}

pub(super) async fn a_holder_is_not_retired_later(world: &World) -> Verdict {
    let (bank, released, confirmed) = (world.filled(2).await?, ClaimId::new("ada")?, ClaimId::new("bob")?);
    let mut links = Vec::new();
    for claim in [&released, &confirmed] {
        let _ = bank.take(claim, Hold::Forever).await?;
        let (far, link) = late(&bank);
        let retired = retried(|attempt| far.attempt_retire(attempt, claim)).await?;
        ensure_eq!(retired, Retired::Holding, "a retire of a claim that holds an item");
        links.push(link);
    }
    let _ = bank.release(&released).await?;
    let _ = bank.confirm(&confirmed).await?;
    for link in links {
        link.land().await;
    }
    let state = bank.get(&released).await?;
    ensure_eq!(state, ClaimState::Ended(End::Released), "a released claim after its lost retire has arrived");
    let taken = bank.take(&confirmed, Hold::Forever).await?;
    ensure_matches!(taken, Taken::Again(_), "a confirmed claim after its lost retire has arrived");
    for claim in [&released, &confirmed] {
        ensure_eq!(bank.retire(claim).await?, Retired::Retired, "another call that retires");
    }
    Ok(())
}

/// If a claim has the maximum number of void calls, a repeated take returns an error of unknown outcome instead of
/// `Empty`.
pub(super) async fn more_void_calls_than_a_claim_keeps_are_a_doubt(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(0).await?, ClaimId::new("ada")?);
    let calls: Vec<_> = (0..Attempt::MAX_VOID as i64 + 4).map(Attempt::of_call).collect();
    let mut refused = Vec::new();
    for attempt in &calls {
        match bank.attempt_take(attempt.again(), &claim, Hold::Forever).await {
            Ok(taken) => {
                ensure_eq!(taken, Taken::Empty, "a repeated take from an empty bank");
                refused.push(*attempt);
            }
            Err(error) => ensure_doubt(&error)?,
        }
    }
    ensure_eq!(refused.len(), Attempt::MAX_VOID, "calls of a claim that are void");
    ensure_eq!(bank.take(&claim, Hold::Forever).await?, Taken::Empty, "a call that lost no attempt");
    bank.add(&items(1)?).await?;
    for attempt in refused {
        let taken = bank.attempt_take(attempt, &claim, Hold::Forever).await?;
        ensure_eq!(taken, Taken::Empty, "a lost attempt of a void call");
    }
    ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_), "another call");
    Ok(())
}

fn ensure_doubt(error: &storagebox_core::Error) -> Verdict {
    ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}");
    ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
    Ok(())
}

/// A store remembers void calls for as long as ended claims. Upkeep deletes void calls after this time.
pub(super) async fn void_calls_are_forgotten_in_time(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(0).await?, ClaimId::new("ada")?);
    for call in 0..Attempt::MAX_VOID as i64 {
        let taken = bank.attempt_take(Attempt::of_call(call).again(), &claim, Hold::Forever).await?;
        ensure_eq!(taken, Taken::Empty, "a repeated take from an empty bank");
    }
    world.pass_memory().await;
    let taken = bank.attempt_take(Attempt::of_call(-1).again(), &claim, Hold::Forever).await;
    if world.can_forget() {
        ensure_eq!(taken?, Taken::Empty, "a repeated take once the void calls are forgotten");
        world.pass_memory().await;
        ensure!(world.upkeep().await? >= 1, "upkeep has left the void calls of the claim");
    }
    bank.add(&items(1)?).await?;
    ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_), "another call");
    Ok(())
}

pub(super) async fn a_release_ends_a_claim_that_has_void_calls(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(0).await?, ClaimId::new("ada")?);
    let (far, link) = late(&bank);
    let taken = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
    ensure_eq!(taken, Taken::Empty, "a take from an empty bank");
    ensure_eq!(bank.retire(&claim).await?, Retired::Unknown, "a retire of a claim that has only void calls");
    let (far, second) = late(&bank);
    let taken = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
    ensure_eq!(taken, Taken::Empty, "a take from an empty bank");
    ensure_eq!(bank.release(&claim).await?, Released::Released, "a release of a claim that has only void calls");
    bank.add(&items(1)?).await?;
    second.land().await;
    link.land().await;
    ensure_eq!(bank.get(&claim).await?, ClaimState::Ended(End::Released), "the claim");
    ensure_eq!(bank.counts().await?.free, 1, "free items");
    Ok(())
}

/// The first attempt of a take races with a second attempt and with an add. If the store refuses the second attempt,
/// the first attempt never takes effect.
pub(super) async fn an_attempt_in_progress_takes_before_the_refusal_or_never(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 4 {
        let (bank, claim) = (world.filled_bank(&format!("bank-{round}"), 0).await?, ClaimId::new("ada")?);
        let attempt = Attempt::of_call(round as i64);
        let item = items(1)?;
        let answers = race(3, |number| {
            let (bank, claim, item) = (Arc::clone(&bank), claim.clone(), item.clone());
            async move {
                if number == 2 {
                    answered(|| bank.add(&item)).await?;
                    return Ok(None);
                }
                let attempt = if number == 0 { attempt } else { attempt.again() };
                match bank.attempt_take(attempt, &claim, Hold::Forever).await {
                    Ok(taken) => Ok(Some(taken)),
                    Err(error) if error.is_retryable() => Ok(None),
                    Err(error) => Err(error.into()),
                }
            }
        })
        .await?;
        let state = bank.get(&claim).await?;
        if answers[1] == Some(Taken::Empty) {
            ensure_eq!(state, ClaimState::Unknown, "the claim whose repeated take was refused, round {round}");
            let taken = bank.attempt_take(attempt, &claim, Hold::Forever).await?;
            ensure_eq!(taken, Taken::Empty, "an attempt that arrives after the race, round {round}");
        }
        ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_) | Taken::Again(_), "another call");
    }
    Ok(())
}

/// After `InFlight`, a lost attempt of the call may still take effect when the lease of the other caller has ended.
pub(super) async fn anothers_lease_is_an_answer_as_it_stands(world: &World) -> Verdict {
    let (leases, records) = (world.leases()?, world.dedup()?);
    let (op, other, long) = (OpId::new("op")?, OpId::new("other")?, Duration::from_secs(3_600));
    let (beginning, recording) = (DedupId::new("beginning")?, DedupId::new("recording")?);
    for id in [&beginning, &recording] {
        let begun = leases.begin(id, &other, long, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
        let (far, begin) = late(&leases);
        let begun = retried(|_| far.begin(id, &op, long, None)).await?;
        ensure_matches!(begun, Begun::InFlight { .. }, "a begin during another lease");
        let (far, record) = late(&records);
        let value = Payload::try_from("value")?;
        let recorded = retried(|_| far.record(id, &value, &op, Retention::Forever)).await?;
        ensure_matches!(recorded, Recorded::InFlight { .. }, "a record during another lease");
        let _ = leases.abort(&lease).await?;
        if *id == beginning {
            begin.land().await;
            let begun = leases.begin(id, &op, long, None).await?;
            let lease =
                ensure_matches!(begun, Begun::Started(lease) => lease, "the caller's lease, which had come late");
            let completed = leases.complete(&lease, &value, Retention::Forever).await?;
            ensure_matches!(completed, Completed::Completed(_), "the caller's work");
        } else {
            record.land().await;
            ensure!(records.get(id).await?.is_some(), "the value of the late record is not there");
        }
    }
    Ok(())
}

pub(super) async fn a_mismatch_is_an_answer_as_it_stands(world: &World) -> Verdict {
    let (leases, id) = (world.leases()?, DedupId::new("id")?);
    let (op, other, long) = (OpId::new("op")?, OpId::new("other")?, Duration::from_secs(3_600));
    let (mine, theirs) = (Fingerprint::new("mine")?, Fingerprint::new("theirs")?);
    let begun = leases.begin(&id, &other, long, Some(&theirs)).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
    let (far, link) = late(&leases);
    let begun = retried(|_| far.begin(&id, &op, long, Some(&mine))).await?;
    ensure_eq!(begun, Begun::Mismatch, "a begin with other content");
    let value = Payload::try_from("value")?;
    let _ = leases.complete(&lease, &value, Retention::Forever).await?;
    link.land().await;
    let begun = leases.begin(&id, &other, long, Some(&theirs)).await?;
    ensure_matches!(begun, Begun::Done(_), "the id after the lost begin has arrived");
    Ok(())
}

/// An outcome that no lost attempt can change is returned even if earlier attempts of the call were lost.
pub(super) async fn what_is_final_is_answered_after_what_was_lost(world: &World) -> Verdict {
    let (bank, records, counter) = (world.filled(2).await?, world.dedup()?, world.counter(Strategy::default())?);
    let claim = ClaimId::new("ada")?;
    let (far, link) = late(&bank);
    let taken = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
    ensure_matches!(taken, Taken::New(_), "a take");
    link.land().await;
    let (far, _) = late(&bank);
    let extended = retried(|attempt| far.attempt_extend(attempt, &claim, Hold::Forever)).await?;
    ensure_matches!(extended, Extended::Extended(_), "an extend");
    let (far, _) = late(&bank);
    ensure_eq!(retried(|_| far.release(&claim)).await?, Released::Released, "a release");
    let (far, link) = late(&bank);
    let ended = retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await?;
    ensure_eq!(ended, Taken::Ended(End::Released), "a take of an ended claim");
    link.land().await;
    ensure_eq!(bank.counts().await?.free, 2, "free items after all of that");

    let (id, op, value) = (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value")?);
    let (far, _) = late(&records);
    let recorded = retried(|_| far.record(&id, &value, &op, Retention::Forever)).await?;
    ensure_matches!(recorded, Recorded::New(_), "a record");
    let (far, link) = late(&counter);
    let (key, change) = (Key::new("key")?, Change::new(op.clone(), 5));
    let counted = retried(|attempt| far.attempt_apply(attempt, &key, &change)).await?;
    ensure_matches!(counted, Counted::Applied { .. }, "a change");
    link.land().await;
    ensure_eq!(counter.value(&key).await?, 5, "the value after the change has arrived twice");
    let (tokens, token) = (world.tokens()?, TokenId::new("token")?);
    let (far, _) = late(&tokens);
    retried(|_| far.create_tokens(std::slice::from_ref(&token))).await?;
    let _ = retried(|_| far.consume(&token, &op)).await?;
    ensure!(!tokens.exists(&token).await?, "a consumed token exists");
    Ok(())
}

/// Callers retry takes from a bank that runs empty. No late attempt makes the answer to a claim wrong.
pub(super) async fn random_faults_never_answer_what_may_still_change(world: &World) -> Verdict {
    let mut rng = world.rng();
    for round in 0..world.profile().rounds {
        let bank = world.filled_bank(&format!("bank-{round}"), 5).await?;
        // No request lands twice: a caller cannot know of a duplicate of a request that was answered.
        let fates = [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Delivered, Fate::Delivered];
        let link = Link::script((0..120).map(|_| fates[rng.usize(..fates.len())]));
        let far = link.before(&bank);
        let (mut holding, mut empty) = (Vec::new(), Vec::new());
        for number in 0..20 {
            let claim = ClaimId::new(format!("claim-{number}"))?;
            match retried(|attempt| far.attempt_take(attempt, &claim, Hold::Forever)).await {
                Ok(Taken::New(held) | Taken::Again(held)) => holding.push((claim, held.item)),
                Ok(Taken::Empty) => empty.push(claim),
                Ok(Taken::Ended(end)) => {
                    return Err(Failure::new(format!("{claim:?} ended by itself: {end:?}")));
                }
                Err(error) => ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}"),
            }
        }
        ensure!(!empty.is_empty(), "no take was answered Empty");
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
