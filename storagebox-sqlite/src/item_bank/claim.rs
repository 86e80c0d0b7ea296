//! What a claim is, and how it ends.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};
use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{
    ClaimId, ClaimState, Confirmed, End, Extended, Held, Hold, HoldState, Item, Namespace, Released, Result, Retired,
    Taken,
};

use super::end_of;
use crate::client::Step;
use crate::clock::Micros;
use crate::error::{read, unreadable};

const CLAIM: &str = include_str!("../../sql/item_bank/claim.sql");
const CONFIRM: &str = include_str!("../../sql/item_bank/confirm.sql");
const EXTEND: &str = include_str!("../../sql/item_bank/extend.sql");
const FORGET: &str = include_str!("../../sql/item_bank/forget.sql");
pub(super) const GET: &str = include_str!("../../sql/item_bank/get.sql");
const RELEASE: &str = include_str!("../../sql/item_bank/release.sql");
const RETIRE: &str = include_str!("../../sql/item_bank/retire.sql");

/// A claim by the clock (IB-6, IB-7).
enum Judged {
    Unknown,
    /// It ended longer ago than that is remembered.
    Forgotten,
    Held(Held, Option<Micros>),
    Ended(End),
}

fn judged(row: Option<&SqliteRow>, now: Micros, forgotten: Micros) -> Result<Judged> {
    let Some(row) = row else {
        return Ok(Judged::Unknown);
    };
    let at = read::<Option<i64>>("a claim", row.try_get("at"))?.map(Micros);
    let is_forgotten = |at: Option<Micros>| at.is_some_and(|at| at <= forgotten);
    match read::<String>("a claim", row.try_get("state"))?.as_str() {
        "spent" => Ok(Judged::Held(Held { item: item(row)?, hold: HoldState::Confirmed }, None)),
        "held" if at.is_none_or(|until| now < until) => {
            let hold = at.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(until)));
            Ok(Judged::Held(Held { item: item(row)?, hold }, at))
        }
        _ if is_forgotten(at) => Ok(Judged::Forgotten),
        "held" | "expired" => Ok(Judged::Ended(End::Expired)),
        "released" => Ok(Judged::Ended(End::Released)),
        _ => Err(unreadable("a claim")),
    }
}

fn item(row: &SqliteRow) -> Result<Item> {
    let item: String = read("an item", row.try_get("item"))?;
    Item::new(item).map_err(|_| unreadable("an item"))
}

/// What is forgotten by the memory that the row shows.
fn forgotten(row: Option<&SqliteRow>, now: Micros) -> Result<Micros> {
    let memory = row.map_or(Ok(None), |row| read("a claim", row.try_get("memory")))?;
    Ok(now.forgotten(memory))
}

/// For a look: what it is, and nothing is changed.
pub(super) fn state(row: Option<&SqliteRow>, now: Micros) -> Result<ClaimState> {
    Ok(match judged(row, now, forgotten(row, now)?)? {
        Judged::Unknown | Judged::Forgotten => ClaimState::Unknown,
        Judged::Held(held, _) => ClaimState::Held(held),
        Judged::Ended(why) => ClaimState::Ended(why),
    })
}

/// Within a step: what need not be remembered any more is removed, and the item of its hold is free.
async fn known(step: &mut Step<'_>, claim: &ClaimId) -> Result<Judged> {
    let row = step.row(step.ask(CLAIM).bind(claim.as_str())).await?;
    let judged = judged(row.as_ref(), step.now, step.forgotten)?;
    if matches!(judged, Judged::Forgotten) {
        step.change(step.ask(FORGET).bind(claim.as_str())).await?;
        return Ok(Judged::Unknown);
    }
    Ok(judged)
}

/// What a take answers a claim that is known (IB-3, IB-7).
pub(super) async fn answered(step: &mut Step<'_>, claim: &ClaimId) -> Result<Option<Taken>> {
    known(step, claim).await.map(to_a_take)
}

/// The same without a transaction: nothing is changed.
pub(super) async fn seen(step: &mut Step<'_>, bank: &Namespace, claim: &ClaimId) -> Result<Option<Taken>> {
    let row = step.row(query(GET).bind(bank.as_str()).bind(step.now.0).bind(claim.as_str())).await?;
    judged(row.as_ref(), step.now, forgotten(row.as_ref(), step.now)?).map(to_a_take)
}

fn to_a_take(judged: Judged) -> Option<Taken> {
    match judged {
        Judged::Held(held, _) => Some(Taken::Again(held)),
        Judged::Ended(why) => Some(Taken::Ended(why)),
        Judged::Unknown | Judged::Forgotten => None,
    }
}

pub(super) async fn extend(step: &mut Step<'_>, claim: &ClaimId, hold: Hold) -> Result<Extended> {
    let (held, until) = match known(step, claim).await? {
        Judged::Held(held, _) if held.hold == HoldState::Confirmed => return Ok(Extended::Confirmed(held)),
        Judged::Held(held, until) => (held, until),
        Judged::Ended(why) => return Ok(Extended::Ended(why)),
        Judged::Unknown | Judged::Forgotten => return Ok(Extended::Unknown),
    };
    let until = until.zip(end_of(hold, step.now)).map(|(until, end)| until.0.max(end));
    step.change(step.ask(EXTEND).bind(claim.as_str()).bind(until)).await?;
    let now = step.now;
    let hold = until.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(Micros(until))));
    Ok(Extended::Extended(Held { hold, ..held }))
}

pub(super) async fn confirm(step: &mut Step<'_>, claim: &ClaimId) -> Result<Confirmed> {
    let held = match known(step, claim).await? {
        Judged::Held(held, _) => held,
        Judged::Ended(why) => return Ok(Confirmed::Ended(why)),
        Judged::Unknown | Judged::Forgotten => return Ok(Confirmed::Unknown),
    };
    if held.hold != HoldState::Confirmed {
        step.change(step.ask(CONFIRM).bind(claim.as_str())).await?;
    }
    Ok(Confirmed::Confirmed(held.item))
}

pub(super) async fn release(step: &mut Step<'_>, claim: &ClaimId) -> Result<Released> {
    match known(step, claim).await? {
        Judged::Held(held, _) if held.hold == HoldState::Confirmed => Ok(Released::Confirmed),
        Judged::Ended(End::Expired) => Ok(Released::Expired),
        Judged::Ended(End::Released) => Ok(Released::Released),
        Judged::Held(..) | Judged::Unknown | Judged::Forgotten => {
            step.change(step.ask(RELEASE).bind(claim.as_str()).bind(step.now.0)).await?;
            Ok(Released::Released)
        }
    }
}

pub(super) async fn retire(step: &mut Step<'_>, claim: &ClaimId) -> Result<Retired> {
    let sql = match known(step, claim).await? {
        Judged::Unknown | Judged::Forgotten => return Ok(Retired::Unknown),
        Judged::Held(held, _) if held.hold != HoldState::Confirmed => return Ok(Retired::Holding),
        Judged::Held(..) => RETIRE,
        Judged::Ended(_) => FORGET,
    };
    step.change(step.ask(sql).bind(claim.as_str())).await?;
    Ok(Retired::Retired)
}
