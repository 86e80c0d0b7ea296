//! One marker per operation, put in one transaction with its change (article 5, approach 5).

use storagebox_core::{Attempt, Cancelled, Change, Counted, Key, OpId, Result, Retention};

use super::room::Room;
use super::values::Values;
use crate::client::{Client, Refusal, Tag, Transacted, Write, Wrote, millis_of};
use crate::clock::Millis;
use crate::error::contention;
use crate::row::{Row, RowKey};

/// The condition that the operation has no marker that is remembered.
const NEW: &str = "attribute_not_exists(pk) OR g <= :past";

#[derive(Clone, Copy, Debug)]
pub(super) struct Markers {
    retention: Retention,
}

/// The outcome of a transaction of a change and its marker.
pub(super) enum Marked {
    Counted(Counted),
    /// The operation has no marker, and a row of the counter refused its part of the change.
    NoRoom(Option<Row>),
}

impl Markers {
    pub(super) fn new(retention: Retention) -> Self {
        Self { retention }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let (room, tag) = (Room::of(change), &Tag::fresh());
        let update = &room.added(Write::update(&values.row(key)));
        let attempt = || async move {
            match self.write(values, key, change, tag, vec![update.clone()]).await? {
                Marked::Counted(counted) => Ok(counted),
                Marked::NoRoom(old) => room.rejected(old.as_ref()),
            }
        };
        values.changed(first, attempt).await
    }

    /// Makes one attempt: the marker and the writes of the change.
    pub(super) async fn write(
        &self,
        values: &Values,
        key: &Key,
        change: &Change,
        tag: &Tag,
        mut writes: Vec<Write>,
    ) -> Result<Marked> {
        values.ready().await?;
        let marker = self.row(values, key, &change.op).with("d", change.delta);
        writes.insert(0, put(values.client(), marker, tag));
        match values.client().transact(&writes).await? {
            Transacted::Done => Ok(Marked::Counted(Counted::Applied { value: None })),
            Transacted::Refused(parts) => refused(parts, change, tag),
        }
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        let tag = &Tag::fresh();
        let attempt = || async move {
            values.ready().await?;
            let fence = put(values.client(), self.row(values, key, op), tag);
            match values.client().write(&fence).await? {
                Wrote::Refused(Some(old)) if old.has("d") => Ok(Cancelled::AlreadyApplied { value: None }),
                Wrote::Done(_) | Wrote::Refused(_) => Ok(Cancelled::Cancelled),
            }
        };
        values.client().settle("cancel", attempt).await
    }

    /// Returns the outcome of an operation that has a marker.
    pub(super) async fn find(&self, values: &Values, key: &Key, change: &Change, tag: &Tag) -> Result<Option<Counted>> {
        let found = values.client().get(&at(values, key, &change.op)).await?;
        let past = values.client().surely_past();
        let lasts = |row: &Row| row.number("g").is_none_or(|end| Millis(end) > past);
        found.filter(lasts).map(|marker| known(&marker, change, tag)).transpose()
    }

    /// Returns the row of a marker without a delta, which is a fence.
    fn row(&self, values: &Values, key: &Key, op: &OpId) -> Row {
        let client = values.client();
        let end = millis_of(self.retention).map(|millis| Millis(client.now().0.saturating_add(millis)));
        Row::new(&at(values, key, op)).expiring(end.map(|end| client.expiry(end)))
    }
}

/// Returns the key of a marker. Each marker has a partition of its own, so that markers do not load the counter's.
fn at(values: &Values, key: &Key, op: &OpId) -> RowKey {
    RowKey::alone(values.partition("op", key, op.as_str()))
}

fn put(client: &Client, marker: Row, tag: &Tag) -> Write {
    Write::put(marker).tagged(tag).only_if(NEW).value(":past", client.surely_past().0)
}

/// Reads the refusals. The marker decides before the counter.
fn refused(parts: Vec<Refusal>, change: &Change, tag: &Tag) -> Result<Marked> {
    let mut parts = parts.into_iter();
    if let Some(Refusal::Condition(Some(marker))) = parts.next() {
        return Ok(Marked::Counted(known(&marker, change, tag)?));
    }
    let without_room = parts.find_map(|part| match part {
        Refusal::Condition(old) => Some(old),
        Refusal::Not => None,
    });
    without_room.map(Marked::NoRoom).ok_or_else(contention)
}

fn known(marker: &Row, change: &Change, tag: &Tag) -> Result<Counted> {
    if !marker.has("d") {
        return Ok(Counted::Fenced);
    }
    let delta: i64 = marker.needed("d", marker.number("d"))?;
    Ok(match delta == change.delta {
        true if tag.is_on(marker) => Counted::Applied { value: None },
        true => Counted::AlreadyApplied { value: None },
        false => Counted::Mismatch,
    })
}
