//! Operations inside the counter's row: for ever (article 5, approach 7) or for a lifetime (article 3).
//!
//! The article removes the first element of a list with each addition. DynamoDB refuses that, because one update may
//! not change a list and an element of it. Here a lapsed operation is removed by name, under the condition that it is
//! the one that was read, so nothing is forgotten early.

use std::time::Duration;

use aws_sdk_dynamodb::types::ReturnValue;
use storagebox_core::{Attempt, Cancelled, Change, Counted, Error, Key, OpId, Result};

use super::entries::{Entries, Entry, first, name};
use super::room::Room;
use super::values::{Values, mark, value_in};
use crate::client::{Client, Tag, Write, Wrote};
use crate::error::contention;
use crate::row::{Row, RowKey};

/// How many lapsed operations one update removes. A full window needs one per addition; more make room for the next
/// ones.
const SWEPT: usize = 20;
/// How many refusals an attempt may meet.
const MOST_REFUSALS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    capacity: u32,
    lifetime: Option<Duration>,
}

/// An operation that a call adds to the set, with all its attempts.
struct Entrant<'a> {
    row: RowKey,
    name: String,
    /// The change, or none for a fence.
    change: Option<&'a Change>,
    /// The mark of the call.
    by: [u8; 6],
}

/// The outcome of adding an operation.
enum Entered {
    /// This call added it; with the value after it.
    Now(Option<i64>),
    /// The set had it before.
    Before(Entry, Option<i64>),
    Rejected(Counted),
    Full,
}

/// What follows a refusal.
enum Next {
    End(Entered),
    Try(Lapsed),
}

/// Operations that have lapsed.
#[derive(Default)]
struct Lapsed {
    /// The earlier entry of the same operation, which the new one replaces.
    own: Option<Entry>,
    others: Vec<(String, Entry)>,
}

impl Set {
    pub(super) fn new(capacity: u32, lifetime: Option<Duration>) -> Self {
        Self { capacity, lifetime }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let entrant = &Entrant::new(values.row(key), &change.op, Some(change));
        let attempt = || async move {
            Ok(match self.enter(values, entrant).await? {
                Entered::Now(value) => Counted::Applied { value },
                Entered::Before(Entry { delta: None, .. }, _) => Counted::Fenced,
                Entered::Before(entry, _) if entry.delta != Some(change.delta) => Counted::Mismatch,
                Entered::Before(_, value) => Counted::AlreadyApplied { value },
                Entered::Rejected(counted) => counted,
                Entered::Full => Counted::Full,
            })
        };
        values.changed(first, attempt).await
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        let entrant = &Entrant::new(values.row(key), op, None);
        let attempt = || async move {
            Ok(match self.enter(values, entrant).await? {
                Entered::Before(Entry { delta: Some(_), .. }, value) => Cancelled::AlreadyApplied { value },
                Entered::Full => Cancelled::Full,
                Entered::Now(_) | Entered::Before(..) | Entered::Rejected(_) => Cancelled::Cancelled,
            })
        };
        values.client().settle("cancel", attempt).await
    }

    /// Makes one attempt. It guesses that the row exists and has a place, and each refusal shows the row as it is.
    async fn enter(&self, values: &Values, entrant: &Entrant<'_>) -> Result<Entered> {
        values.ready().await?;
        let client = values.client();
        let mut write = self.addition(client, entrant, &Lapsed::default());
        for _ in 0..MOST_REFUSALS {
            write = match client.write_to(&entrant.row, &write, |row| Entries::of(row).map(drop)).await? {
                Wrote::Done(row) => return entrant.entered(row.as_ref()),
                Wrote::Refused(None) => match entrant.rejection(0) {
                    Some(rejected) => return Ok(Entered::Rejected(rejected)),
                    None => entrant.first(client),
                },
                Wrote::Refused(Some(old)) => match self.judge(client, entrant, &old)? {
                    Next::End(entered) => return Ok(entered),
                    Next::Try(lapsed) => self.addition(client, entrant, &lapsed),
                },
            };
        }
        Err(contention())
    }

    fn judge(&self, client: &Client, entrant: &Entrant<'_>, old: &Row) -> Result<Next> {
        let entries = Entries::of(old)?;
        let past = client.surely_past();
        let has_lapsed = |entry: &Entry| self.lifetime.is_some_and(|lifetime| entry.at.after(lifetime) <= past);
        let own = match entries.find(&entrant.name)? {
            // The call's own entry counts even if it has lapsed since.
            Some(own) if own.by == entrant.by || !has_lapsed(&own) => {
                return Ok(Next::End(entrant.found(&entries, own)?));
            }
            own => own,
        };
        if let Some(rejected) = entrant.rejection(value_in(old)?) {
            return Ok(Next::End(Entered::Rejected(rejected)));
        }
        let others = entries.some(SWEPT, |name, entry| name != entrant.name && has_lapsed(entry));
        let lapsed = Lapsed { own, others };
        match entries.len() < self.places(&lapsed) {
            true => Ok(Next::Try(lapsed)),
            false => Ok(Next::End(Entered::Full)),
        }
    }

    /// Returns the number that the set's size must be below before the lapsed operations are removed.
    fn places(&self, lapsed: &Lapsed) -> usize {
        self.capacity as usize + lapsed.others.len() + usize::from(lapsed.own.is_some())
    }

    /// Returns the update that adds the operation and removes the lapsed ones.
    fn addition(&self, client: &Client, entrant: &Entrant<'_>, lapsed: &Lapsed) -> Write {
        let write = Write::update(&entrant.row)
            .name("#op", &entrant.name)
            .set_to("d.#op", ":entry")
            .value(":entry", &entrant.entry(client).bytes()[..])
            .value(":places", self.places(lapsed) as u64);
        let (write, room) = entrant.counted(write, lapsed);
        let (write, own) = lapsed.replaced(write);
        let (write, others) = lapsed.swept(write);
        write.only_if(format!("{own} AND size(d) < :places{room}{others}"))
    }
}

impl<'a> Entrant<'a> {
    fn new(row: RowKey, op: &OpId, change: Option<&'a Change>) -> Self {
        Self { row, name: name(op), change, by: mark(&Tag::fresh()) }
    }

    fn entry(&self, client: &Client) -> Entry {
        Entry { at: client.now(), by: self.by, delta: self.change.map(|change| change.delta) }
    }

    fn rejection(&self, value: i64) -> Option<Counted> {
        Room::of(self.change?).rejection(value)
    }

    /// Returns the write of a counter's first operation.
    fn first(&self, client: &Client) -> Write {
        let entry = self.entry(client);
        let row = Row::new(&self.row).with("v", entry.delta.unwrap_or(0));
        Write::put(first(row, &self.name, &entry)).only_if("attribute_not_exists(pk)")
    }

    /// Adds the change to the update, and returns the condition for it.
    fn counted(&self, write: Write, lapsed: &Lapsed) -> (Write, String) {
        match self.change {
            Some(change) => {
                let room = Room::of(change);
                let write = room.added(write).set_to("w.#op", "if_not_exists(v, :zero) + :delta");
                (write.answering(ReturnValue::UpdatedNew), format!(" AND {}", room.condition()))
            }
            None if lapsed.own.is_some() => (write.remove(&["w.#op"]), String::new()),
            None => (write, String::new()),
        }
    }

    /// Returns the outcome of a write that was made. A counter's first write shows no row: its value is the delta.
    fn entered(&self, row: Option<&Row>) -> Result<Entered> {
        let Some(change) = self.change else {
            return Ok(Entered::Now(None));
        };
        let value = row.map_or(Ok(change.delta), value_in);
        Ok(Entered::Now(Some(value.map_err(Error::after_unresolved)?)))
    }

    fn found(&self, entries: &Entries<'_>, entry: Entry) -> Result<Entered> {
        let value = entries.value_after(&self.name)?;
        Ok(if entry.by == self.by { Entered::Now(value) } else { Entered::Before(entry, value) })
    }
}

impl Lapsed {
    fn replaced(&self, write: Write) -> (Write, &'static str) {
        match &self.own {
            Some(own) => (write.value(":own", &own.bytes()[..]), "d.#op = :own"),
            None => (write, "attribute_not_exists(d.#op)"),
        }
    }

    fn swept(&self, write: Write) -> (Write, String) {
        let all = self.others.iter().enumerate();
        all.fold((write, String::new()), |(write, condition), (number, (name, entry))| {
            let (place, seen) = (format!("#l{number}"), format!(":l{number}"));
            let (done, value) = (format!("d.{place}"), format!("w.{place}"));
            let write = write.name(&place, name).value(&seen, &entry.bytes()[..]);
            (write.remove(&[&done, &value]), format!("{condition} AND {done} = {seen}"))
        })
    }
}
