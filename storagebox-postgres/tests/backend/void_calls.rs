//! Calls that a refusal has made void (ER-5): attempts that arrive late, and attempts that are in progress meanwhile.

mod counters;
mod races;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use storagebox_core::{
    Attempt, Backend, ClaimId, ClaimState, Confirmed, Counts, End, ErrorKind, Extended, Hold, HoldState, Item,
    ItemBank, Released, Result, Retention, Retired, Taken,
};
use storagebox_postgres::PostgresStore;

use crate::scene::{LONG, count, with_database, with_place};
use crate::support::{Place, run};

const HOUR: Duration = Duration::from_secs(3_600);

/// Returns a store that remembers ended claims for an hour.
async fn store(place: &Place, combining: bool) -> Result<PostgresStore> {
    run(place.database.owner(), format!("UPDATE {}.store SET memory = 3600000000", place.schema)).await?;
    let builder = place.builder()?.remember(Retention::For(HOUR)).call_timeout(LONG).combining(combining);
    builder.connect(&place.url_at(place.database.server()))
}

async fn bank(place: &Place) -> Result<Arc<dyn ItemBank>> {
    store(place, true).await?.item_bank(&"namespace".parse()?)
}

async fn add(bank: &Arc<dyn ItemBank>, items: &[&str]) -> Result<()> {
    bank.add(&items.iter().copied().map(Item::new).collect::<Result<Vec<_>>>()?).await.map(drop)
}

fn ada() -> ClaimId {
    "ada".parse().expect("a claim")
}

async fn take(bank: &Arc<dyn ItemBank>, attempt: Attempt) -> Result<Taken> {
    bank.attempt_take(attempt, &ada(), Hold::Forever).await
}

#[test]
fn a_late_attempt_of_a_refused_take_takes_nothing() -> Result<()> {
    with_database(async |database| {
        for combining in [false, true] {
            let place = database.place().await?;
            let bank = store(&place, combining).await?.item_bank(&"namespace".parse()?)?;
            let late = Attempt::of_call(7);
            assert_eq!(take(&bank, late.again()).await?, Taken::Empty);
            add(&bank, &["item"]).await?;
            for attempt in [late, late.again()] {
                assert_eq!(take(&bank, attempt).await?, Taken::Empty);
            }
            assert_eq!(bank.get(&ada()).await?, ClaimState::Unknown);
            assert_eq!(bank.counts().await?, Counts { free: 1, held: 0, spent: 0, withdrawn: 0 });
            assert!(matches!(take(&bank, Attempt::of_call(8)).await?, Taken::New(_)));
            assert!(matches!(take(&bank, late).await?, Taken::Again(_)));
        }
        Ok(())
    })
}

#[test]
fn a_first_attempt_that_is_refused_leaves_no_row() -> Result<()> {
    with_place(async |place| {
        let (bank, first) = (bank(place).await?, Attempt::of_call(7));
        assert_eq!(take(&bank, first).await?, Taken::Empty);
        assert_eq!(bank.attempt_extend(first, &ada(), Hold::Forever).await?, Extended::Unknown);
        assert_eq!(bank.attempt_confirm(first, &ada()).await?, Confirmed::Unknown);
        let rows = format!("SELECT count(*) FROM {}.claims", place.schema);
        assert_eq!(count(&place.database, &rows).await?, 0);
        Ok(())
    })
}

#[test]
fn a_batch_takes_no_item_for_a_claim_with_a_void_call() -> Result<()> {
    with_place(async |place| {
        let (bank, late) = (bank(place).await?, Attempt::of_call(7));
        assert_eq!(take(&bank, late.again()).await?, Taken::Empty);
        add(&bank, &["1", "2", "3", "4", "5", "6", "7", "8", "9"]).await?;
        let others = (0..8).map(|number| ClaimId::new(format!("claim-{number}"))).collect::<Result<Vec<_>>>()?;
        let others = join_all(others.iter().map(|claim| bank.take(claim, Hold::Forever)));
        let (others, refused) = tokio::join!(others, take(&bank, late));
        assert_eq!(refused?, Taken::Empty);
        assert!(others.iter().all(|taken| matches!(taken, Ok(Taken::New(_)))), "{others:?}");
        Ok(())
    })
}

#[test]
fn void_calls_stay_void_after_another_call_takes_an_item() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place).await?;
        let [extend, confirm, retire] = [1, 2, 3].map(Attempt::of_call);
        assert_eq!(bank.attempt_extend(extend.again(), &ada(), Hold::Forever).await?, Extended::Unknown);
        assert_eq!(bank.attempt_confirm(confirm.again(), &ada()).await?, Confirmed::Unknown);
        add(&bank, &["item"]).await?;
        assert!(matches!(bank.attempt_take(Attempt::of_call(4), &ada(), Hold::For(HOUR)).await?, Taken::New(_)));
        assert_eq!(bank.attempt_retire(retire.again(), &ada()).await?, Retired::Holding);
        let held = bank.get(&ada()).await?;
        assert_eq!(bank.attempt_extend(extend, &ada(), Hold::Forever).await?, Extended::Unknown);
        assert_eq!(bank.attempt_confirm(confirm, &ada()).await?, Confirmed::Unknown);
        for state in [held, bank.get(&ada()).await?] {
            assert!(
                matches!(&state, ClaimState::Held(held) if matches!(held.hold, HoldState::Remaining(_))),
                "{state:?}"
            );
        }
        assert_eq!(bank.release(&ada()).await?, Released::Released);
        assert_eq!(bank.attempt_retire(retire, &ada()).await?, Retired::Holding);
        assert_eq!(take(&bank, Attempt::of_call(5)).await?, Taken::Ended(End::Released));
        assert_eq!(bank.attempt_retire(Attempt::of_call(6), &ada()).await?, Retired::Retired);
        assert!(matches!(take(&bank, extend).await?, Taken::New(_)), "a retired claim has no void calls");
        Ok(())
    })
}

#[test]
fn a_release_fences_a_claim_that_has_void_calls() -> Result<()> {
    with_place(async |place| {
        let (bank, retire) = (bank(place).await?, Attempt::of_call(1));
        assert_eq!(take(&bank, retire.again()).await?, Taken::Empty);
        assert_eq!(bank.attempt_retire(retire, &ada()).await?, Retired::Holding);
        assert_eq!(bank.attempt_retire(Attempt::of_call(2), &ada()).await?, Retired::Unknown);
        assert_eq!(bank.release(&ada()).await?, Released::Released);
        add(&bank, &["item"]).await?;
        assert_eq!(take(&bank, Attempt::of_call(3)).await?, Taken::Ended(End::Released));
        assert_eq!(bank.attempt_retire(retire, &ada()).await?, Retired::Holding);
        Ok(())
    })
}

#[test]
fn refusal_beyond_the_limit_of_void_calls_is_outcome_unknown() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place).await?;
        for call in 0..Attempt::MAX_VOID as i64 {
            assert_eq!(take(&bank, Attempt::of_call(call).again()).await?, Taken::Empty);
        }
        let more = Attempt::of_call(-1);
        assert_eq!(take(&bank, more.again()).await.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        let extended = bank.attempt_extend(more.again(), &ada(), Hold::Forever).await;
        assert_eq!(extended.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        let confirmed = bank.attempt_confirm(more.again(), &ada()).await;
        assert_eq!(confirmed.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        assert_eq!(take(&bank, Attempt::of_call(0).again()).await?, Taken::Empty, "it is void already");
        add(&bank, &["item"]).await?;
        assert!(matches!(take(&bank, more).await?, Taken::New(_)));
        let retired = bank.attempt_retire(Attempt::of_call(-2).again(), &ada()).await;
        assert_eq!(retired.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        Ok(())
    })
}

/// The retention begins when the last call becomes void, and later attempts do not extend the retention.
#[test]
fn void_calls_are_forgotten_like_ended_claims() -> Result<()> {
    with_place(async |place| {
        let store = store(place, true).await?;
        let (bank, late) = (store.item_bank(&"namespace".parse()?)?, Attempt::of_call(7));
        for (call, time) in [(7, HOUR / 2), (8, 3 * HOUR / 4)] {
            assert_eq!(take(&bank, Attempt::of_call(call).again()).await?, Taken::Empty);
            place.advance(time).await?;
        }
        assert_eq!(take(&bank, Attempt::of_call(9)).await?, Taken::Empty);
        add(&bank, &["item"]).await?;
        assert_eq!(take(&bank, late).await?, Taken::Empty);
        assert_eq!(store.maintain(10).await?.deleted, 0);
        place.advance(HOUR / 4).await?;
        assert!(matches!(take(&bank, late).await?, Taken::New(_)), "its memory is over");
        let bob = "bob".parse()?;
        assert_eq!(bank.attempt_confirm(late.again(), &bob).await?, Confirmed::Unknown);
        place.advance(HOUR).await?;
        assert_eq!(store.maintain(10).await?.deleted, 1);
        assert_eq!(bank.get(&bob).await?, ClaimState::Unknown);
        Ok(())
    })
}
