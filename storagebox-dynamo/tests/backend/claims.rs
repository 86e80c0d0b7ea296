//! Claims whose holds have lapsed, and claims that are confirmed or extended.

use std::time::Duration;

use storagebox_core::{
    Backend, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, Item, ItemBank, ItemState, Released, Result,
    Taken,
};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::{Gate, in_place, recorded, with_place};
use crate::support::{Place, failed, items};

const MINUTE: Duration = Duration::from_secs(60);

/// The call whose outcome reports that the hold has run out.
#[derive(Clone, Copy, Debug)]
enum Told {
    Release,
    Confirm,
    Extend,
    Take,
}

impl Told {
    async fn is_told(self, bank: &dyn ItemBank, claim: &ClaimId) -> Result<()> {
        let is_expired = match self {
            Self::Release => bank.release(claim).await? == Released::Expired,
            Self::Confirm => bank.confirm(claim).await? == Confirmed::Ended(End::Expired),
            Self::Extend => bank.extend(claim, Hold::For(MINUTE)).await? == Extended::Ended(End::Expired),
            Self::Take => bank.take(claim, Hold::Forever).await? == Taken::Ended(End::Expired),
        };
        assert!(is_expired, "{self:?}");
        Ok(())
    }
}

/// A `confirm` that was sent during the hold arrives after another call has reported the end of the hold.
#[test]
fn a_late_confirm_after_an_expired_outcome_changes_nothing() -> Result<()> {
    with_place(async |place| {
        for told in [Told::Release, Told::Confirm, Told::Extend, Told::Take] {
            let (name, gate) = (format!("{told:?}"), Gate::default());
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let (held, elsewhere) = (store.item_bank(&name.parse()?)?, place.store().await?.item_bank(&name.parse()?)?);
            let (claim, item) = (ClaimId::new("ada")?, Item::new("code")?);
            held.add(std::slice::from_ref(&item)).await?;
            let _ = held.take(&claim, Hold::For(MINUTE)).await?;
            faults.script_for("UpdateItem", [Gate::HOLD]);
            let late = tokio::spawn({
                let claim = claim.clone();
                async move { held.confirm(&claim).await }
            });
            gate.reached().await;
            place.clock.advance(2 * MINUTE);
            told.is_told(&*elsewhere, &claim).await?;
            gate.open();
            let answer = late.await.map_err(failed)??;
            assert_eq!(answer, Confirmed::Ended(End::Expired), "{told:?}");
            assert_eq!(elsewhere.get(&claim).await?, ClaimState::Ended(End::Expired), "{told:?}");
            assert_eq!(elsewhere.holder(&item).await?, ItemState::Free, "{told:?}");
            assert_eq!(elsewhere.counts().await?, Counts { free: 1, ..Counts::default() }, "{told:?}");
        }
        Ok(())
    })
}

/// A request of `withdraw` arrives after a `restore` has ended, or the reverse. The newer call stays in effect.
#[test]
fn a_late_withdraw_or_restore_does_not_undo_a_newer_one() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, code) = (store.item_bank(&"namespace".parse()?)?, [Item::new("code")?]);
        bank.add(&code).await?;

        // A `Late` request arrives after one to three other requests, a `Parked` request after all others.
        for fault in [Fault::Late, Fault::Late, Fault::Late, Fault::Parked] {
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(bank.withdraw(&code).await?.withdrawn, 1);
            assert_eq!(bank.restore(&code).await?.restored, 1);
            faults.land().await;
            assert_eq!(bank.holder(&code[0]).await?, ItemState::Free, "{fault:?}");

            assert_eq!(bank.withdraw(&code).await?.withdrawn, 1);
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(bank.restore(&code).await?.restored, 1);
            assert_eq!(bank.withdraw(&code).await?.withdrawn, 1);
            faults.land().await;
            assert_eq!(bank.holder(&code[0]).await?, ItemState::Withdrawn, "{fault:?}");
            assert_eq!(bank.restore(&code).await?.restored, 1);
        }
        Ok(())
    })
}

/// How a hold is kept from lapsing.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Confirmed,
    Extended,
}

impl Kept {
    async fn keep(self, bank: &dyn ItemBank, claim: &ClaimId) -> Result<()> {
        let is_kept = match self {
            Self::Confirmed => matches!(bank.confirm(claim).await?, Confirmed::Confirmed(_)),
            Self::Extended => {
                matches!(bank.extend(claim, Hold::For(60 * MINUTE)).await?, Extended::Extended(_))
            }
        };
        assert!(is_kept, "{self:?}");
        Ok(())
    }
}

/// Takes `count` items for a limited time, and confirms or extends the holds. Then moves the clock past the end of the
/// original holds.
async fn kept(place: &Place, kept: Kept, count: usize) -> Result<()> {
    let bank = place.store().await?.item_bank(&"namespace".parse()?)?;
    bank.add(&items(count)?).await?;
    for number in 0..count {
        let claim = ClaimId::new(format!("early-{number}"))?;
        assert!(matches!(bank.take(&claim, Hold::For(MINUTE)).await?, Taken::New(_)));
        kept.keep(&*bank, &claim).await?;
    }
    place.clock.advance(2 * MINUTE);
    Ok(())
}

fn requests(faults: &Faults) -> u64 {
    faults.requests().values().sum()
}

/// Other claims take all free items of a bank that also has confirmed or extended holds.
#[test]
fn confirmed_and_extended_holds_cost_takers_no_requests() -> Result<()> {
    const KEPT: usize = 100;
    const LEFT: u64 = 200;
    for how in [Kept::Confirmed, Kept::Extended] {
        with_place(async |place| {
            kept(place, how, KEPT).await?;
            let (store, faults) = recorded(&place.table, place.builder()).await?;
            let bank = store.item_bank(&"namespace".parse()?)?;
            let left: Vec<_> = (0..LEFT).map(|number| Item::new(format!("left-{number}"))).collect::<Result<_>>()?;
            bank.add(&left).await?;
            faults.reset();
            for number in 0..LEFT {
                let taken = bank.take(&ClaimId::new(format!("late-{number}"))?, Hold::Forever).await?;
                assert!(matches!(taken, Taken::New(_)), "{taken:?}");
            }
            assert!(requests(&faults) <= LEFT + LEFT / 10, "{:?}", faults.requests());
            faults.reset();
            assert_eq!(bank.take(&ClaimId::new("too late")?, Hold::Forever).await?, Taken::Empty);
            assert!(requests(&faults) <= 10, "{:?}", faults.requests());
            Ok(())
        })?;
    }
    Ok(())
}

/// Another claim gets the item when the extended hold has lapsed, and not before.
#[test]
fn an_item_is_taken_after_its_extended_hold_has_lapsed() -> Result<()> {
    with_place(async |place| {
        kept(place, Kept::Extended, 1).await?;
        let bank = place.store().await?.item_bank(&"namespace".parse()?)?;
        assert_eq!(bank.take(&ClaimId::new("too early")?, Hold::Forever).await?, Taken::Empty);
        place.clock.advance(60 * MINUTE);
        assert!(matches!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// Interrupts a `confirm` or `extend` after its first write, and moves the clock past the end of the original hold.
/// Returns the claim.
async fn cut_off(place: &Place, call: Kept) -> Result<ClaimId> {
    let gate = Gate::default();
    let (store, faults) = gate.store(&place.table, place.builder()).await?;
    let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
    bank.add(&items(1)?).await?;
    let _ = bank.take(&claim, Hold::For(MINUTE)).await?;
    faults.script_for("UpdateItem", [Gate::PASS, Gate::HOLD]);
    tokio::select! {
        () = gate.reached() => {}
        answer = call.keep(&*bank, &claim) => panic!("{call:?} was not held: {answer:?}"),
    }
    place.clock.advance(2 * MINUTE);
    Ok(claim)
}

/// The interrupted `extend` did not move the item: its key in the index is still the end of the original hold.
#[test]
fn upkeep_moves_an_item_after_an_interrupted_extend() -> Result<()> {
    with_place(async |place| {
        let claim = cut_off(place, Kept::Extended).await?;
        place.store().await?.maintain(100).await?;
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let late = store.item_bank(&"namespace".parse()?)?;
        assert_eq!(late.take(&ClaimId::new("too early")?, Hold::Forever).await?, Taken::Empty);
        assert_eq!(faults.requests().get("TransactWriteItems"), None, "it was met by a taker");
        assert!(matches!(late.confirm(&claim).await?, Confirmed::Confirmed(_)));
        Ok(())
    })
}

/// The row of the claim decides whether the hold has lapsed, and not the item's key in the index.
#[test]
fn an_item_with_an_old_index_key_is_not_taken_during_its_hold() -> Result<()> {
    with_place(async |place| {
        let claim = cut_off(place, Kept::Extended).await?;
        let other = place.store().await?.item_bank(&"namespace".parse()?)?;
        assert_eq!(other.take(&ClaimId::new("too early")?, Hold::Forever).await?, Taken::Empty);
        assert!(matches!(other.confirm(&claim).await?, Confirmed::Confirmed(_)));
        Ok(())
    })
}

/// The interrupted `confirm` left its item in the index, where takers look for lapsed holds.
#[test]
fn upkeep_removes_an_item_after_an_interrupted_confirm() -> Result<()> {
    with_place(async |place| {
        let claim = cut_off(place, Kept::Confirmed).await?;
        assert_eq!(in_the_index(place).await?, 1);
        place.store().await?.maintain(100).await?;
        assert_eq!(in_the_index(place).await?, 0);
        let other = place.store().await?.item_bank(&"namespace".parse()?)?;
        assert_eq!(other.counts().await?, Counts { spent: 1, ..Counts::default() });
        assert!(matches!(other.confirm(&claim).await?, Confirmed::Confirmed(_)));
        Ok(())
    })
}

#[test]
fn an_item_leaves_the_index_when_its_hold_gets_no_end() -> Result<()> {
    with_place(async |place| {
        let (bank, claim) = (place.store().await?.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&items(1)?).await?;
        let _ = bank.take(&claim, Hold::For(MINUTE)).await?;
        assert!(matches!(bank.extend(&claim, Hold::Forever).await?, Extended::Extended(_)));
        assert_eq!(in_the_index(place).await?, 0);
        Ok(())
    })
}

async fn in_the_index(place: &Place) -> Result<usize> {
    Ok(place.rows().await?.iter().filter(|row| row.contains_key("o")).count())
}

/// DynamoDB keeps client tokens per account and region. The two transactions differ only in their tables.
#[tokio::test]
async fn equal_transactions_on_two_tables_have_different_tokens() -> Result<()> {
    in_place(async |here| {
        in_place(async |there| {
            for place in [here, there] {
                let bank = place.store().await?.item_bank(&"bank".parse()?)?;
                bank.add(&[Item::new("item")?]).await?;
                assert!(matches!(bank.take(&ClaimId::new("ada")?, Hold::For(MINUTE)).await?, Taken::New(_)));
                place.clock.advance(2 * MINUTE);
                assert!(matches!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::New(_)));
            }
            Ok(())
        })
        .await
    })
    .await
}
