//! Attempts that arrive after a later attempt of their call was refused (ER-5).

mod counters;

use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use redis::cmd;
use storagebox_core::{
    Attempt, Backend, Certainty, ClaimId, ClaimState, Confirmed, End, ErrorKind, Extended, Hold, HoldState, Item,
    ItemBank, Released, Result, Retired, Taken,
};

use crate::scene::with_place;
use crate::structure::keys;
use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);
/// A time longer than the store remembers ended operations.
const WEEK: Duration = Duration::from_secs(8 * 24 * 3_600);

fn lost() -> Attempt {
    Attempt::of_call(-7)
}

async fn bank(place: &Place) -> Result<(Arc<dyn ItemBank>, ClaimId)> {
    Ok((place.store()?.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?))
}

async fn add(bank: &dyn ItemBank, items: &[&str]) -> Result<()> {
    bank.add(&items.iter().map(|item| Item::new(*item)).collect::<Result<Vec<_>>>()?).await.map(drop)
}

/// Returns the stored value of a claim, or `None` if the claim is not stored.
async fn row(place: &Place, claim: &ClaimId) -> Result<Option<String>> {
    for key in keys(place).await?.iter().filter(|key| key.contains(":c:")) {
        let value = place.server.ask::<Option<String>>(cmd("HGET").arg(key).arg(claim.as_str())).await?;
        if value.is_some() {
            return Ok(value);
        }
    }
    Ok(None)
}

#[test]
fn a_take_that_arrives_after_its_refusal_takes_nothing() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = bank(place).await?;
        assert_eq!(bank.attempt_take(lost(), &ada, Hold::Forever).await?, Taken::Empty);
        assert_eq!(row(place, &ada).await?, None, "a first attempt leaves nothing");
        assert_eq!(bank.attempt_take(lost().again(), &ada, Hold::Forever).await?, Taken::Empty);
        assert_eq!(bank.get(&ada).await?, ClaimState::Unknown);
        add(&*bank, &["one"]).await?;
        assert_eq!(bank.attempt_take(lost(), &ada, Hold::Forever).await?, Taken::Empty);
        assert_eq!(bank.attempt_take(lost().again(), &ada, Hold::For(HOUR)).await?, Taken::Empty);
        assert_eq!((bank.counts().await?.free, bank.get(&ada).await?), (1, ClaimState::Unknown));
        let taken = bank.take(&ada, Hold::For(HOUR)).await?;
        assert!(matches!(taken, Taken::New(_)), "another call: {taken:?}");
        let late = bank.attempt_take(lost(), &ada, Hold::For(HOUR)).await?;
        assert!(matches!(late, Taken::Again(_)), "the claim has an item now: {late:?}");
        Ok(())
    })
}

/// Void calls of a claim stay without effect, even after later calls of the claim have succeeded.
#[test]
fn calls_stay_void_until_the_claim_is_forgotten() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = bank(place).await?;
        let [extend, confirm, retire] = [1, 2, 3].map(Attempt::of_call);
        assert_eq!(bank.attempt_extend(extend.again(), &ada, Hold::Forever).await?, Extended::Unknown);
        assert_eq!(bank.attempt_confirm(confirm.again(), &ada).await?, Confirmed::Unknown);
        add(&*bank, &["one"]).await?;
        let taken = bank.take(&ada, Hold::For(HOUR)).await?;
        assert_eq!(bank.attempt_retire(retire.again(), &ada).await?, Retired::Holding);
        let all_are_void = async || -> Result<()> {
            assert_eq!(bank.attempt_extend(extend, &ada, Hold::Forever).await?, Extended::Unknown);
            assert_eq!(bank.attempt_confirm(confirm, &ada).await?, Confirmed::Unknown);
            assert_eq!(bank.attempt_retire(retire, &ada).await?, Retired::Holding);
            Ok(())
        };
        all_are_void().await?;
        let ClaimState::Held(held) = bank.get(&ada).await? else { return Err(failed("no item is held")) };
        assert!(taken.item() == Some(&held.item) && !matches!(held.hold, HoldState::Forever), "{held:?}");
        assert!(matches!(bank.extend(&ada, Hold::For(2 * HOUR)).await?, Extended::Extended(_)));
        assert!(matches!(bank.extend(&ada, Hold::Forever).await?, Extended::Extended(_)));
        all_are_void().await?;
        assert_eq!(bank.confirm(&ada).await?, Confirmed::Confirmed(held.item));
        all_are_void().await?;
        assert_eq!(bank.retire(&ada).await?, Retired::Retired);
        assert_eq!(row(place, &ada).await?, None);
        assert_eq!(bank.attempt_retire(retire, &ada).await?, Retired::Unknown);
        Ok(())
    })
}

/// Void calls stay void after their claim was released, and after another claim took its item.
#[test]
fn calls_stay_void_when_the_claim_ends() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = bank(place).await?;
        let (bob, eve) = (ClaimId::new("bob")?, ClaimId::new("eve")?);
        for claim in [&ada, &bob] {
            assert_eq!(bank.attempt_take(lost().again(), claim, Hold::Forever).await?, Taken::Empty);
        }
        assert_eq!(bank.release(&ada).await?, Released::Released);
        add(&*bank, &["one"]).await?;
        assert!(matches!(bank.take(&bob, Hold::For(HOUR)).await?, Taken::New(_)));
        assert_eq!(bank.attempt_retire(lost(), &bob).await?, Retired::Holding);
        place.moved.advance(2 * HOUR);
        assert!(matches!(bank.take(&eve, Hold::Forever).await?, Taken::New(_)));
        for (claim, why) in [(&ada, End::Released), (&bob, End::Expired)] {
            assert_eq!(bank.get(claim).await?, ClaimState::Ended(why));
            assert_eq!(bank.attempt_take(lost(), claim, Hold::Forever).await?, Taken::Ended(why));
            assert_eq!(bank.attempt_retire(lost(), claim).await?, Retired::Holding);
            assert_eq!(bank.retire(claim).await?, Retired::Retired);
        }
        Ok(())
    })
}

#[test]
fn a_refusal_beyond_the_limit_of_void_calls_is_unknown() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = bank(place).await?;
        let most = i64::try_from(Attempt::MAX_VOID).map_err(failed)?;
        for number in 0..most {
            let attempt = Attempt::of_call(i64::MIN + number).again();
            assert_eq!(bank.attempt_take(attempt, &ada, Hold::Forever).await?, Taken::Empty);
        }
        let before = row(place, &ada).await?;
        let error = bank.attempt_take(lost().again(), &ada, Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
        assert_eq!(row(place, &ada).await?, before);
        for number in [0, most - 1] {
            let known = Attempt::of_call(i64::MIN + number).again();
            assert_eq!(bank.attempt_take(known, &ada, Hold::Forever).await?, Taken::Empty, "it is void already");
        }
        assert_eq!(bank.attempt_take(lost(), &ada, Hold::Forever).await?, Taken::Empty, "nothing was lost");
        add(&*bank, &["one"]).await?;
        assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// A claim with void calls is forgotten when the memory of its last void call is over.
#[test]
fn void_calls_are_forgotten_like_ended_claims() -> Result<()> {
    with_place(async |place| {
        let (store, (bank, ada)) = (place.store()?, bank(place).await?);
        let (bob, eve) = (ClaimId::new("bob")?, ClaimId::new("eve")?);
        for claim in [&ada, &bob, &eve] {
            let _ = bank.attempt_take(lost().again(), claim, Hold::Forever).await?;
        }
        place.moved.advance(WEEK / 2);
        let _ = bank.attempt_take(Attempt::of_call(8).again(), &bob, Hold::Forever).await?;
        place.moved.advance(WEEK / 2);
        add(&*bank, &["one", "two"]).await?;
        assert!(matches!(bank.attempt_take(lost(), &ada, Hold::Forever).await?, Taken::New(_)), "it is over");
        assert_eq!(bank.attempt_take(lost(), &bob, Hold::Forever).await?, Taken::Empty);
        while store.maintain(100).await?.more {}
        assert!(row(place, &bob).await?.is_some());
        assert_eq!((row(place, &ada).await?.as_deref(), row(place, &eve).await?), (Some("one"), None));
        place.moved.advance(WEEK);
        assert_eq!(store.maintain(100).await?.deleted, 1);
        assert_eq!(row(place, &bob).await?, None);
        Ok(())
    })
}

/// The call becomes void between two scripts of the take.
#[test]
fn a_take_in_progress_finds_that_its_call_is_void() -> Result<()> {
    with_place(async |place| {
        let ((bank, ada), (beside, _)) = (bank(place).await?, bank(place).await?);
        // The first calls open the namespace and send the script.
        for bank in [&bank, &beside] {
            assert_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty);
        }
        let items = (0..1_001).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?;
        beside.add(&items).await?;
        assert_eq!(beside.withdraw(&items).await?.withdrawn, 1_001);
        let mut late = pin!(bank.attempt_take(lost(), &ada, Hold::Forever));
        tokio::select! {
            biased;
            taken = late.as_mut() => panic!("it did not wait: {taken:?}"),
            () = ready(()) => {}
        }
        let queued = cmd("HGET").arg(place.key("b.namespace.0")).arg("q").clone();
        while place.server.ask::<u64>(&queued).await? != 1 {}
        assert_eq!(beside.attempt_take(lost().again(), &ada, Hold::Forever).await?, Taken::Empty);
        add(&*beside, &["one"]).await?;
        assert_eq!(late.await?, Taken::Empty);
        assert_eq!(beside.counts().await?.free, 1);
        Ok(())
    })
}

/// The repair restores the lost queue of ended claims, and changes no void call.
#[test]
fn a_repair_leaves_void_calls_as_they_are() -> Result<()> {
    with_place(async |place| {
        let (store, (bank, ada)) = (place.store()?, bank(place).await?);
        let (bob, eve) = (ClaimId::new("bob")?, ClaimId::new("eve")?);
        for claim in [&ada, &bob, &eve] {
            assert_eq!(bank.attempt_take(lost().again(), claim, Hold::Forever).await?, Taken::Empty);
        }
        add(&*bank, &["one"]).await?;
        assert!(matches!(bank.take(&ada, Hold::For(2 * WEEK)).await?, Taken::New(_)));
        let _ = bank.release(&bob).await?;
        let rows = async || tokio::try_join!(row(place, &ada), row(place, &bob), row(place, &eve));
        let before = rows().await?;
        let base = place.key("b.namespace.0");
        place.server.ask::<()>(cmd("DEL").arg(format!("{base}:e:0"))).await?;
        place.server.ask::<()>(cmd("HDEL").arg(&base).arg("sound")).await?;
        assert_eq!(store.maintain(100).await?.deleted, 0);
        assert_eq!(rows().await?, before);
        place.moved.advance(WEEK);
        assert_eq!(store.maintain(100).await?.deleted, 2);
        assert_eq!(rows().await?, (before.0, None, None));
        Ok(())
    })
}

#[test]
fn void_calls_that_cannot_be_read_are_corrupt() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = bank(place).await?;
        assert_eq!(bank.attempt_take(lost().again(), &ada, Hold::Forever).await?, Taken::Empty);
        let keys = keys(place).await?;
        let key = keys.iter().find(|key| key.contains(":c:")).ok_or_else(|| failed("no claim"))?;
        for damaged in ["\0V", "\0V;", "\0V -7 ;", "\0V -7 \0U0000000000000001", "\0V x ;one", "\0V -7 ;\0U"] {
            place.server.ask::<()>(cmd("HSET").arg(key).arg("ada").arg(damaged)).await?;
            // The error of a repeated attempt also covers the lost attempt.
            for (attempt, certainty) in [(lost(), Certainty::NotApplied), (lost().again(), Certainty::Unknown)] {
                let error = bank.attempt_take(attempt, &ada, Hold::Forever).await.unwrap_err();
                assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, certainty), "{damaged:?}: {error}");
            }
            assert_eq!(bank.get(&ada).await.unwrap_err().kind(), ErrorKind::Corrupt, "{damaged:?}");
            assert_eq!(row(place, &ada).await?.as_deref(), Some(damaged));
        }
        Ok(())
    })
}
