//! Takes.

use sqlx::Row;
use storagebox_core::{ClaimId, Held, Hold, HoldState, Item, Result, Taken};

use super::{claim, end_of};
use crate::client::Step;
use crate::error::{read, unreadable};

const TAKE: &str = include_str!("../../sql/item_bank/take.sql");
const TAKE_LAPSED: &str = include_str!("../../sql/item_bank/take_lapsed.sql");

/// Nobody else writes meanwhile, so what is not found is not there (IB-4).
pub(super) async fn take(step: &mut Step<'_>, claim: &ClaimId, hold: Hold) -> Result<Taken> {
    if let Some(answer) = claim::answered(step, claim).await? {
        return Ok(answer);
    }
    let until = end_of(hold, step.now);
    let free = step.ask(TAKE).bind(claim.as_str()).bind(until);
    let taken = match step.row(free).await? {
        Some(taken) => Some(taken),
        None => {
            let lapsed = step.ask(TAKE_LAPSED).bind(step.now.0).bind(claim.as_str()).bind(until);
            step.row(lapsed).await?
        }
    };
    let Some(taken) = taken else {
        return Ok(Taken::Empty);
    };
    let item: String = read("an item", taken.try_get("item"))?;
    let item = Item::new(item).map_err(|_| unreadable("an item"))?;
    let hold = match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    };
    Ok(Taken::New(Held { item, hold }))
}
