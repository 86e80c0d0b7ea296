//! Claims: their state and the calls that change it.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};
use storagebox_core::backend::rules::{StoredTime, VoidCalls};
use storagebox_core::{
    Attempt, ClaimId, ClaimState, Confirmed, End, Extended, Held, Hold, HoldState, Item, Namespace, Released, Result,
    Retired, Taken,
};

use super::end_of;
use crate::client::Step;
use crate::clock::Micros;
use crate::error::{read, unreadable};
use crate::void_calls::VoidCallsOf;

const CLAIM: &str = include_str!("../../sql/item_bank/claim.sql");
const CONFIRM: &str = include_str!("../../sql/item_bank/confirm.sql");
const EXTEND: &str = include_str!("../../sql/item_bank/extend.sql");
const FORGET: &str = include_str!("../../sql/item_bank/forget.sql");
pub(super) const GET: &str = include_str!("../../sql/item_bank/get.sql");
const RELEASE: &str = include_str!("../../sql/item_bank/release.sql");
const RETIRE: &str = include_str!("../../sql/item_bank/retire.sql");

/// The state of a claim at a given time (IB-6, IB-7).
enum ClaimStatus {
    Unknown,
    /// The claim ended, and its memory is over.
    Forgotten,
    Held(Held, Option<Micros>),
    Ended(End),
}

fn judged(row: Option<&SqliteRow>, now: Micros, forgotten: Micros) -> Result<ClaimStatus> {
    let Some(row) = row else {
        return Ok(ClaimStatus::Unknown);
    };
    let at = read::<Option<i64>>("a claim", row.try_get("at"))?.map(Micros);
    let is_forgotten = |at: Option<Micros>| at.is_some_and(|at| at <= forgotten);
    match read::<String>("a claim", row.try_get("state"))?.as_str() {
        "spent" => Ok(ClaimStatus::Held(Held { item: item(row)?, hold: HoldState::Confirmed }, None)),
        "held" if at.is_none_or(|until| now < until) => {
            let hold = at.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(until)));
            Ok(ClaimStatus::Held(Held { item: item(row)?, hold }, at))
        }
        _ if is_forgotten(at) => Ok(ClaimStatus::Forgotten),
        "held" | "expired" => Ok(ClaimStatus::Ended(End::Expired)),
        "released" => Ok(ClaimStatus::Ended(End::Released)),
        _ => Err(unreadable("a claim")),
    }
}

fn item(row: &SqliteRow) -> Result<Item> {
    let item: String = read("an item", row.try_get("item"))?;
    Item::new(item).map_err(|_| unreadable("an item"))
}

/// Returns the state of a claim from a row of `GET`, at the time at which the row was asked for.
fn found(row: Option<&SqliteRow>) -> Result<ClaimStatus> {
    let Some(found) = row else { return Ok(ClaimStatus::Unknown) };
    let asked = Micros(read("a claim", found.try_get("asked"))?);
    judged(row, asked, asked.forgotten(read("a claim", found.try_get("memory"))?))
}

/// Returns the state of a claim from its row, or `Unknown` without a row.
pub(super) fn state(row: Option<&SqliteRow>) -> Result<ClaimState> {
    Ok(match found(row)? {
        ClaimStatus::Unknown | ClaimStatus::Forgotten => ClaimState::Unknown,
        ClaimStatus::Held(held, _) => ClaimState::Held(held),
        ClaimStatus::Ended(why) => ClaimState::Ended(why),
    })
}

pub(super) struct ClaimAttempt<'a> {
    claim: &'a ClaimId,
    attempt: Attempt,
    void: VoidCalls,
}

impl<'a> ClaimAttempt<'a> {
    /// Reads the claim's state and void calls. Deletes a forgotten claim and frees its item.
    async fn begin(step: &mut Step<'_>, claim: &'a ClaimId, attempt: Attempt) -> Result<(Self, ClaimStatus)> {
        let rows = step.rows(step.ask(CLAIM).bind(claim.as_str()).bind(step.now.0)).await?;
        let (mut void, mut known) = (VoidCalls::default(), None);
        for row in &rows {
            match read::<&str>("a claim", row.try_get("state"))? {
                "void" => void = read::<&str>("a claim", row.try_get("item"))?.parse()?,
                _ => known = Some(row),
            }
        }
        let mut status = judged(known, step.now, step.forgotten)?;
        if matches!(status, ClaimStatus::Forgotten) {
            step.change(step.ask(FORGET).bind(claim.as_str())).await?;
            status = ClaimStatus::Unknown;
        }
        Ok((Self { claim, attempt, void }, status))
    }

    /// Returns whether the call is void (ER-5): the call was refused after this attempt was lost.
    fn is_void(&self) -> bool {
        self.void.contain(self.attempt)
    }

    /// Returns the refusal, and makes earlier attempts of the call void for as long as an ended claim is remembered.
    pub(super) async fn refused<T>(self, step: &mut Step<'_>, refusal: T) -> Result<T> {
        let memory = step.now.0.saturating_sub(step.forgotten.0);
        let ends = step.now.0.saturating_add(memory);
        let place = VoidCallsOf { key: "", id: self.claim.as_str() };
        place.refuse(step, self.void, self.attempt, "refused", ends).await.map(|()| refusal)
    }
}

/// Returns the outcome of a take by a known claim (IB-3, IB-7) or of a void call, and otherwise the attempt.
pub(super) async fn answered<'a>(
    step: &mut Step<'_>,
    claim: &'a ClaimId,
    attempt: Attempt,
) -> Result<std::result::Result<Taken, ClaimAttempt<'a>>> {
    let (call, status) = ClaimAttempt::begin(step, claim, attempt).await?;
    let is_void = call.is_void();
    Ok(to_a_take(status).or(is_void.then_some(Taken::Empty)).ok_or(call))
}

/// Returns the outcome of a take by a known claim, or `None` for an unknown claim. Changes nothing.
pub(super) async fn seen(step: &mut Step<'_>, bank: &Namespace, claim: &ClaimId) -> Result<Option<Taken>> {
    let row = step.row(query(GET).bind(bank.as_str()).bind(step.now.0).bind(claim.as_str())).await?;
    found(row.as_ref()).map(to_a_take)
}

fn to_a_take(judged: ClaimStatus) -> Option<Taken> {
    match judged {
        ClaimStatus::Held(held, _) => Some(Taken::Again(held)),
        ClaimStatus::Ended(why) => Some(Taken::Ended(why)),
        ClaimStatus::Unknown | ClaimStatus::Forgotten => None,
    }
}

pub(super) async fn extend(step: &mut Step<'_>, claim: &ClaimId, attempt: Attempt, hold: Hold) -> Result<Extended> {
    let (call, status) = ClaimAttempt::begin(step, claim, attempt).await?;
    let (held, until) = match status {
        _ if call.is_void() => return Ok(Extended::Unknown),
        ClaimStatus::Held(held, _) if held.hold == HoldState::Confirmed => return Ok(Extended::Confirmed(held)),
        ClaimStatus::Held(held, until) => (held, until),
        ClaimStatus::Ended(why) => return Ok(Extended::Ended(why)),
        ClaimStatus::Unknown | ClaimStatus::Forgotten => return call.refused(step, Extended::Unknown).await,
    };
    let until = until.zip(end_of(hold, step.now)).map(|(until, end)| until.0.max(end));
    step.change(step.ask(EXTEND).bind(claim.as_str()).bind(until)).await?;
    let now = step.now;
    let hold = until.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(Micros(until))));
    Ok(Extended::Extended(Held { hold, ..held }))
}

pub(super) async fn confirm(step: &mut Step<'_>, claim: &ClaimId, attempt: Attempt) -> Result<Confirmed> {
    let (call, status) = ClaimAttempt::begin(step, claim, attempt).await?;
    let held = match status {
        _ if call.is_void() => return Ok(Confirmed::Unknown),
        ClaimStatus::Held(held, _) => held,
        ClaimStatus::Ended(why) => return Ok(Confirmed::Ended(why)),
        ClaimStatus::Unknown | ClaimStatus::Forgotten => return call.refused(step, Confirmed::Unknown).await,
    };
    if held.hold != HoldState::Confirmed {
        step.change(step.ask(CONFIRM).bind(claim.as_str())).await?;
    }
    Ok(Confirmed::Confirmed(held.item))
}

pub(super) async fn release(step: &mut Step<'_>, claim: &ClaimId) -> Result<Released> {
    let (_, status) = ClaimAttempt::begin(step, claim, Attempt::first()).await?;
    match status {
        ClaimStatus::Held(held, _) if held.hold == HoldState::Confirmed => Ok(Released::Confirmed),
        ClaimStatus::Ended(End::Expired) => Ok(Released::Expired),
        ClaimStatus::Ended(End::Released) => Ok(Released::Released),
        ClaimStatus::Held(..) | ClaimStatus::Unknown | ClaimStatus::Forgotten => {
            step.change(step.ask(RELEASE).bind(claim.as_str()).bind(step.now.0)).await?;
            Ok(Released::Released)
        }
    }
}

pub(super) async fn retire(step: &mut Step<'_>, claim: &ClaimId, attempt: Attempt) -> Result<Retired> {
    let (call, status) = ClaimAttempt::begin(step, claim, attempt).await?;
    let sql = match status {
        _ if call.is_void() => return Ok(Retired::Holding),
        ClaimStatus::Unknown | ClaimStatus::Forgotten => return Ok(Retired::Unknown),
        ClaimStatus::Held(held, _) if held.hold != HoldState::Confirmed => {
            return call.refused(step, Retired::Holding).await;
        }
        ClaimStatus::Held(..) => RETIRE,
        ClaimStatus::Ended(_) => FORGET,
    };
    step.change(step.ask(sql).bind(claim.as_str())).await?;
    VoidCallsOf { key: "", id: claim.as_str() }.forget(step).await?;
    Ok(Retired::Retired)
}
