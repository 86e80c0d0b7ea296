//! Claims, by SQL and by the library.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, ClaimState, Confirmed, End, Held, Hold, HoldState, Item, ItemBank, Released, Result, Taken,
};
use storagebox_testkit::checks::id;

use super::Caller;
use crate::scene::{patient, session, tell, with_place};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

pub(super) async fn bank(place: &Place, items: &[&str]) -> Result<Arc<dyn ItemBank>> {
    let bank = patient(place)?.item_bank(&id("vouchers"))?;
    bank.add(&items.iter().map(|item| id(item)).collect::<Vec<Item>>()).await?;
    Ok(bank)
}

fn held(hold: HoldState) -> Held {
    Held { item: id("item"), hold }
}

#[test]
fn a_hold_of_a_year_lasts_8766_hours_and_of_a_month_720_hours() -> Result<()> {
    with_place(async |place| {
        let (_bank, mut caller) = (bank(place, &["item", "other"]).await?, Caller::connect(place).await?);
        for (claim, hold, hours) in [("ada", "1 year", 8_766), ("bob", "1 month", 720)] {
            let assign = format!("assign('vouchers', '{claim}', '{hold}')");
            assert_eq!(caller.says(&format!("remaining = '{hours} hours'"), &assign).await?, "t", "{hold}");
        }
        Ok(())
    })
}

#[test]
fn library_returns_the_item_that_sql_assigned_to_the_claim() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        let assign = "assign('vouchers', 'ada', '1 hour')";
        assert_eq!(caller.says("outcome, item, remaining", assign).await?, "new item 01:00:00");
        let Taken::Again(again) = bank.take(&id("ada"), Hold::Forever).await? else { panic!("another item") };
        assert_eq!(again.item, id("item"));
        assert!(matches!(again.hold, HoldState::Remaining(left) if left <= HOUR && left > HOUR / 2), "{again:?}");
        assert_eq!(caller.says("outcome, item, remaining <= '1 hour'", assign).await?, "again item t");
        assert_eq!(bank.take(&id("bob"), Hold::Forever).await?, Taken::Empty);
        assert_eq!(caller.outcome("assign('vouchers', 'bob')").await?, "empty");

        assert_eq!(caller.says("outcome, item", "confirm('vouchers', 'ada')").await?, "confirmed item");
        assert_eq!(bank.get(&id("ada")).await?, ClaimState::Held(held(HoldState::Confirmed)));
        assert_eq!(caller.says("outcome, item, remaining", assign).await?, "again item");
        assert_eq!(caller.outcome("release('vouchers', 'ada')").await?, "confirmed");
        Ok(())
    })
}

#[test]
fn sql_returns_the_item_that_the_library_assigned_to_the_claim() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        assert_eq!(bank.take(&id("ada"), Hold::Forever).await?, Taken::New(held(HoldState::Forever)));
        assert_eq!(caller.says("outcome, item", "assign('vouchers', 'ada')").await?, "again item");
        assert_eq!(caller.says("outcome, item", "get_claim('vouchers', 'ada')").await?, "held item");
        assert_eq!(bank.confirm(&id("ada")).await?, Confirmed::Confirmed(id("item")));
        assert_eq!(caller.says("outcome, item", "get_claim('vouchers', 'ada')").await?, "confirmed item");
        assert_eq!(caller.says("outcome, item", "confirm('vouchers', 'ada')").await?, "confirmed item");
        Ok(())
    })
}

#[test]
fn ended_claim_is_ended_for_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        assert_eq!(caller.outcome("get_claim('vouchers', 'ada')").await?, "unknown");
        assert_eq!(caller.outcome("confirm('vouchers', 'ada')").await?, "unknown");
        assert_eq!(caller.outcome("release('vouchers', 'ada')").await?, "released");
        assert_eq!(bank.take(&id("ada"), Hold::Forever).await?, Taken::Ended(End::Released));
        assert_eq!(bank.release(&id("bob")).await?, Released::Released);
        assert_eq!(caller.says("outcome, item, remaining", "assign('vouchers', 'bob')").await?, "ended");
        assert_eq!(caller.outcome("get_claim('vouchers', 'bob')").await?, "released");

        assert_eq!(caller.outcome("assign('vouchers', 'cleo', '1 hour')").await?, "new");
        place.advance(2 * HOUR).await?;
        assert_eq!(bank.get(&id("cleo")).await?, ClaimState::Ended(End::Expired));
        assert_eq!(caller.outcome("get_claim('vouchers', 'cleo')").await?, "expired");
        assert_eq!(caller.says("outcome, item", "confirm('vouchers', 'cleo')").await?, "ended");
        assert_eq!(caller.outcome("release('vouchers', 'cleo')").await?, "expired");
        assert_eq!(caller.says("outcome, item", "assign('vouchers', 'dan')").await?, "new item");
        Ok(())
    })
}

/// IB-4: `assign` does not return `empty`, because the other transaction may still roll back.
#[test]
fn assign_is_busy_while_another_transaction_has_the_last_item() -> Result<()> {
    with_place(async |place| {
        let (_bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        let mut other = session(place, &format!("SELECT {}.assign('vouchers', 'ada')", place.schema)).await?;
        assert_eq!(caller.says("outcome, item", "assign('vouchers', 'bob')").await?, "busy");
        tell(&mut other, "ROLLBACK").await?;
        assert_eq!(caller.says("outcome, item", "assign('vouchers', 'bob')").await?, "new item");
        Ok(())
    })
}

/// SQL opens the namespace, the library adds an item, and SQL then takes the item.
#[test]
fn namespace_opened_by_sql_is_shared_with_the_library() -> Result<()> {
    with_place(async |place| {
        let (mut caller, name) = (Caller::connect(place).await?, "Gutscheine für Ärzte");
        assert_eq!(caller.outcome(&format!("assign('{name}', 'ada')")).await?, "empty");
        patient(place)?.item_bank(&id(name))?.add(&[id("item")]).await?;
        assert_eq!(caller.says("outcome, item", &format!("assign('{name}', 'ada')")).await?, "new item");
        Ok(())
    })
}
