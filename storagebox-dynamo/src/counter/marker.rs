//! One marker per operation, put in one transaction with its change (article 5, approach 5).
//!
//! | attribute | holds |
//! |---|---|
//! | `d` | the delta, if the operation was applied |
//! | `x`, `r` | the void calls of an operation that was refused, and the refusal ([`void_ops`](super::void_ops)) |
//!
//! A marker without any of these is a fence.

use std::sync::Arc;

use storagebox_core::{Attempt, Cancelled, Change, Counted, Key, OpId, Result, Retention};

use super::DynamoCounter;
use super::room::Room;
use super::values::Values;
use super::void_ops::{number_of, refusal_of};
use crate::client::{Client, Refusal, Tag, Transacted, Write, Wrote, millis_of};
use crate::clock::Millis;
use crate::error::contention;
use crate::parts::Planned;
use crate::row::{Expiry, Row, RowKey};

/// The condition that no marker of the operation is remembered.
const NEW: &str = "attribute_not_exists(pk) OR g <= :past";
/// The condition that the operation has only void calls, and that the call of the attempt is not one of them.
const OF_OTHERS: &str = "attribute_exists(x) AND NOT contains(x, :call)";
/// The condition that the operation has void calls, and room for one more.
const HAS_ROOM: &str = "attribute_exists(x) AND size(x) < :most";

#[derive(Clone, Copy, Debug)]
pub(super) struct Markers {
    retention: Retention,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedAttempt<'a> {
    pub(super) values: &'a Values,
    pub(super) key: &'a Key,
    pub(super) change: &'a Change,
    pub(super) tag: &'a Tag,
    pub(super) attempt: Attempt,
}

pub(super) enum Marked {
    Counted(Counted),
    /// A row of the counter refused the change. Contains this row, if the row exists.
    NoRoom(Option<Row>),
}

impl Markers {
    pub(super) fn new(retention: Retention) -> Self {
        Self { retention }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let (room, tag) = (Room::of(change), &Tag::fresh());
        let update = &room.added(Write::update(&values.row(key)));
        let attempt = |attempt: Attempt| async move {
            let call = MarkedAttempt { values, key, change, tag, attempt };
            match self.write(call, vec![update.clone()]).await? {
                Marked::Counted(counted) => Ok(counted),
                Marked::NoRoom(old) => self.refused(call, room.rejected(old.as_ref())?).await,
            }
        };
        values.changed(first, attempt).await
    }

    pub(super) async fn write(&self, call: MarkedAttempt<'_>, mut writes: Vec<Write>) -> Result<Marked> {
        call.values.ready().await?;
        writes.insert(0, self.marking(call));
        match call.values.client().transact(&writes).await? {
            Transacted::Done => Ok(Marked::Counted(Counted::Applied { value: None })),
            Transacted::Refused(parts) => refused(parts, call),
        }
    }

    pub(super) async fn plan(
        &self,
        counter: &Arc<DynamoCounter>,
        key: &Key,
        change: &Change,
        tag: &Tag,
    ) -> Result<Planned<Counted>> {
        let (values, attempt) = (&counter.values, Attempt::first());
        values.ready().await?;
        let call = MarkedAttempt { values, key, change, tag, attempt };
        if let Some(known) = self.find(call).await? {
            return Ok(Planned::answer(known));
        }
        let writes = vec![self.marking(call), Room::of(change).added(Write::update(&values.row(key)))];
        let (counter, key, change, tag) = (Arc::clone(counter), key.clone(), change.clone(), tag.clone());
        Ok(Planned::new(Counted::Applied { value: None }, writes, move |refusals| {
            let call = MarkedAttempt { values: &counter.values, key: &key, change: &change, tag: &tag, attempt };
            match refused(refusals, call)? {
                Marked::Counted(counted) => Ok(counted),
                Marked::NoRoom(old) => Room::of(&change).rejected(old.as_ref()),
            }
        }))
    }

    fn marking(&self, call: MarkedAttempt<'_>) -> Write {
        let MarkedAttempt { values, key, change, tag, attempt } = call;
        let marker = self.row(values, key, &change.op).with("d", change.delta);
        let marker = put(values.client(), marker, tag).only_if(format!("{NEW} OR ({OF_OTHERS})"));
        marker.value(":call", attempt.call())
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        let tag = &Tag::fresh();
        let attempt = || async move {
            values.ready().await?;
            let fence = put(values.client(), self.row(values, key, op), tag);
            let fence = fence.only_if(format!("{NEW} OR attribute_exists(x)"));
            match values.client().write(&fence).await? {
                Wrote::Refused(Some(old)) if old.has("d") => Ok(Cancelled::AlreadyApplied { value: None }),
                Wrote::Done(_) | Wrote::Refused(_) => Ok(Cancelled::Cancelled),
            }
        };
        values.client().settle("cancel", attempt).await
    }

    /// Returns the outcome that the operation's marker decides, if any.
    pub(super) async fn find(&self, call: MarkedAttempt<'_>) -> Result<Option<Counted>> {
        let MarkedAttempt { values, key, change, .. } = call;
        let found = values.client().get(&at(values, key, &change.op)).await?;
        let past = values.client().surely_past();
        let lasts = |row: &Row| row.number("g").is_none_or(|end| Millis(end) > past);
        found.filter(lasts).map_or(Ok(None), |marker| known(&marker, call))
    }

    /// Returns the outcome of a refused attempt. If an earlier attempt was sent, first makes the call void, unless the
    /// operation was applied or cancelled meanwhile.
    pub(super) async fn refused(&self, call: MarkedAttempt<'_>, refusal: Counted) -> Result<Counted> {
        let MarkedAttempt { values, key, change, tag, attempt } = call;
        if !attempt.is_repeated() {
            return Ok(refusal);
        }
        let client = values.client();
        let voiding = Write::update(&at(values, key, &change.op)).tagged(tag).expiring(self.expiry(client));
        let voiding = voiding.set("r", u64::from(number_of(refusal))).value(":past", client.surely_past().0);
        let calls = &[attempt.call()][..];
        // The void calls of a forgotten marker are forgotten too.
        let alone = voiding.clone().set("x", calls).remove(&["d"]).only_if(NEW);
        let marker = match client.write(&alone).await? {
            Wrote::Done(_) => return Ok(refusal),
            Wrote::Refused(marker) => marker.ok_or_else(contention)?,
        };
        if let Some(known) = known(&marker, call)? {
            return Ok(known);
        }
        if marker.maybe("x", Row::numbers)?.is_none_or(|calls| calls.len() >= Attempt::MAX_VOID) {
            return attempt.refused(refusal);
        }
        let beside = voiding.add("x", ":calls").value(":calls", calls).value(":most", Attempt::MAX_VOID as u64);
        match client.write(&beside.only_if(format!("NOT ({NEW}) AND {HAS_ROOM}"))).await? {
            Wrote::Done(_) => Ok(refusal),
            Wrote::Refused(_) => Err(contention()),
        }
    }

    /// Returns a marker without a delta, which marks the operation as cancelled.
    fn row(&self, values: &Values, key: &Key, op: &OpId) -> Row {
        Row::new(&at(values, key, op)).expiring(self.expiry(values.client()))
    }

    fn expiry(&self, client: &Client) -> Option<Expiry> {
        let end = millis_of(self.retention).map(|millis| Millis(client.now().0.saturating_add(millis)));
        end.map(|end| client.expiry(end))
    }
}

/// Returns the key of a marker. Each marker has its own partition, so that markers do not load the counter's partition.
fn at(values: &Values, key: &Key, op: &OpId) -> RowKey {
    RowKey::alone(values.partition("op", key, op.as_str()))
}

fn put(client: &Client, marker: Row, tag: &Tag) -> Write {
    Write::put(marker).tagged(tag).value(":past", client.surely_past().0)
}

/// Returns the outcome of a refused transaction from the marker or the counter's row that refused it.
fn refused(parts: Vec<Refusal>, call: MarkedAttempt<'_>) -> Result<Marked> {
    let mut parts = parts.into_iter();
    if let Some(Refusal::Condition(Some(marker))) = parts.next() {
        return known(&marker, call)?.map(Marked::Counted).ok_or_else(contention);
    }
    let without_room = parts.find_map(|part| match part {
        Refusal::Condition(old) => Some(old),
        Refusal::Not => None,
    });
    without_room.map(Marked::NoRoom).ok_or_else(contention)
}

/// Returns the outcome that a marker decides for this call; `None` if the marker has only void calls of other calls.
fn known(marker: &Row, call: MarkedAttempt<'_>) -> Result<Option<Counted>> {
    let MarkedAttempt { change, tag, attempt, .. } = call;
    if marker.has("d") {
        let delta: i64 = marker.needed("d", marker.number("d"))?;
        return Ok(Some(match delta == change.delta {
            true if tag.is_on(marker) => Counted::Applied { value: None },
            true => Counted::AlreadyApplied { value: None },
            false => Counted::Mismatch,
        }));
    }
    match marker.maybe("x", Row::numbers)? {
        None => Ok(Some(Counted::Fenced)),
        Some(calls) if calls.contains(&attempt.call()) => {
            Ok(Some(marker.needed("r", marker.number("r").and_then(refusal_of))?))
        }
        Some(_) => Ok(None),
    }
}
