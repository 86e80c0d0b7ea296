//! Operations inside the counter's row: for ever (article 5, approach 7) or for a lifetime (article 3).
//!
//! The article removes the first element of a list with each addition. DynamoDB refuses that, because one update may
//! not change a list and an element of it. Here a lapsed operation is removed by name, under the condition that its
//! entry has not changed since it was read, so nothing is forgotten early.

mod refusing;

use std::time::Duration;

use aws_sdk_dynamodb::types::ReturnValue;
use storagebox_core::{Attempt, Cancelled, Change, Counted, Error, Key, OpId, Result};

use super::entries::{Entries, Entry, first, name};
use super::room::Room;
use super::values::{Values, mark, value_in};
use super::void_ops::VoidOp;
use crate::client::{Client, Tag, Write, Wrote};
use crate::clock::Millis;
use crate::error::contention;
use crate::row::{Row, RowKey};

/// The largest number of lapsed operations that one update removes.
const SWEPT: usize = 20;
/// How many writes of one attempt may be refused before the attempt pauses.
const MOST_REFUSALS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    capacity: u32,
    lifetime: Option<Duration>,
}

/// The operation that a call adds to the set, the same in all attempts.
struct Entrant<'a> {
    row: RowKey,
    name: String,
    /// The change; `None` if the call cancels the operation.
    change: Option<&'a Change>,
    by: [u8; 6],
}

/// The outcome of adding an operation.
enum Entered {
    /// This call added the operation. Contains the value after the change.
    Now(Option<i64>),
    /// The set already had the operation.
    Before(Entry, Option<i64>),
    Refused(Counted),
}

/// What an attempt does after a refused write.
enum Next {
    End(Entered),
    Make(Box<Step>),
}

/// One write of an attempt: adds the operation, or makes the call void if there is a `refusal`.
struct Step {
    write: Write,
    refusal: Option<Counted>,
}

/// The stored data that the update removes when it adds an operation.
#[derive(Default)]
struct Replaced {
    /// The earlier entry of the same operation, which has lapsed.
    own: Option<Entry>,
    /// The void calls of the same operation.
    void: Option<VoidOp>,
    /// Other operations that have lapsed.
    others: Vec<(String, Entry)>,
}

impl Set {
    pub(super) fn new(capacity: u32, lifetime: Option<Duration>) -> Self {
        Self { capacity, lifetime }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let entrant = &Entrant::new(values.row(key), &change.op, Some(change));
        let attempt = |attempt: Attempt| async move {
            Ok(match self.enter(values, entrant, attempt).await? {
                Entered::Now(value) => Counted::Applied { value },
                Entered::Before(Entry { delta: None, .. }, _) => Counted::Fenced,
                Entered::Before(entry, _) if entry.delta != Some(change.delta) => Counted::Mismatch,
                Entered::Before(_, value) => Counted::AlreadyApplied { value },
                Entered::Refused(refusal) => refusal,
            })
        };
        values.changed(first, attempt).await
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        let entrant = &Entrant::new(values.row(key), op, None);
        let attempt = || async move {
            // No call of `cancel` is void, so each attempt may count as a first one.
            Ok(match self.enter(values, entrant, Attempt::first()).await? {
                Entered::Before(Entry { delta: Some(_), .. }, value) => Cancelled::AlreadyApplied { value },
                Entered::Refused(_) => Cancelled::Full,
                Entered::Now(_) | Entered::Before(..) => Cancelled::Cancelled,
            })
        };
        values.client().settle("cancel", attempt).await
    }

    /// Makes one attempt. After a refused write, the next write uses the row that the refusal contains.
    async fn enter(&self, values: &Values, entrant: &Entrant<'_>, attempt: Attempt) -> Result<Entered> {
        values.ready().await?;
        let client = values.client();
        // The first write assumes that the row exists and has a free place.
        let mut step = Step::adding(self.addition(client, entrant, &Replaced::default()));
        for _ in 0..MOST_REFUSALS {
            let old = match client.write_to(&entrant.row, &step.write, |row| Entries::of(row).map(drop)).await? {
                Wrote::Done(row) => return step.made(entrant, row.as_ref()),
                Wrote::Refused(old) => old,
            };
            let next = match &old {
                Some(old) => self.judge(client, entrant, attempt, old)?,
                None => self.begin(client, entrant, attempt)?,
            };
            step = match next {
                Next::End(entered) => return Ok(entered),
                Next::Make(step) => step,
            };
        }
        Err(contention())
    }

    /// Returns the next step for a counter without a row.
    fn begin(&self, client: &Client, entrant: &Entrant<'_>, attempt: Attempt) -> Result<Next> {
        match entrant.rejection(0) {
            Some(refusal) => self.refused(client, entrant, attempt, None, refusal),
            None => Ok(Next::Make(Step::adding(entrant.first(client)))),
        }
    }

    fn judge(&self, client: &Client, entrant: &Entrant<'_>, attempt: Attempt, old: &Row) -> Result<Next> {
        let entries = Entries::of(old)?;
        let past = client.surely_past();
        let has_lapsed = |entry: &Entry| self.is_past(entry.at, past);
        let own = match entries.find(&entrant.name)? {
            // The call's own entry counts even if it has lapsed since.
            Some(own) if own.by == entrant.by || !has_lapsed(&own) => {
                return Ok(Next::End(entrant.found(&entries, own)?));
            }
            own => own,
        };
        let void = entries.void_op(&entrant.name)?;
        if let Some(void) = void.as_ref().filter(|void| void.calls.contain(attempt) && !self.is_past(void.at, past)) {
            return Ok(Next::End(Entered::Refused(void.refusal)));
        }
        let others = entries.some(SWEPT, |name, entry| name != entrant.name && has_lapsed(entry));
        let replaced = Replaced { own, void, others };
        let is_full = entries.len() >= self.places(&replaced);
        match entrant.rejection(value_in(old)?).or(is_full.then_some(Counted::Full)) {
            Some(refusal) => self.refused(client, entrant, attempt, Some((&entries, &replaced)), refusal),
            None => Ok(Next::Make(Step::adding(self.addition(client, entrant, &replaced)))),
        }
    }

    /// Returns whether an operation that was added at this time is no longer remembered.
    fn is_past(&self, at: Millis, past: Millis) -> bool {
        self.lifetime.is_some_and(|lifetime| at.after(lifetime) <= past)
    }

    /// Returns the size below which the stored set has room for one more operation. Operations that the update removes
    /// take no room.
    fn places(&self, replaced: &Replaced) -> usize {
        self.capacity as usize + replaced.others.len() + usize::from(replaced.own.is_some())
    }

    /// Returns the update that adds the operation and removes the `replaced` data. The update is refused if the void
    /// calls of the operation have changed since the row was read.
    fn addition(&self, client: &Client, entrant: &Entrant<'_>, replaced: &Replaced) -> Write {
        let write = Write::update(&entrant.row)
            .name("#op", &entrant.name)
            .set_to("d.#op", ":entry")
            .value(":entry", &entrant.entry(client).bytes()[..])
            .value(":places", self.places(replaced) as u64);
        let (write, room) = entrant.counted(write, replaced);
        let (write, own) = replaced.own(write);
        let (write, void) = replaced.void(write);
        let (write, others) = replaced.swept(write);
        write.only_if(format!("{own} AND {void} AND size(d) < :places{room}{others}"))
    }
}

impl Step {
    fn adding(write: Write) -> Box<Self> {
        Box::new(Self { write, refusal: None })
    }

    /// Returns the outcome of the step after its write has succeeded.
    fn made(&self, entrant: &Entrant<'_>, row: Option<&Row>) -> Result<Entered> {
        match self.refusal {
            Some(refusal) => Ok(Entered::Refused(refusal)),
            None => entrant.entered(row),
        }
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

    /// Adds the change to the update, and returns the condition of the change.
    fn counted(&self, write: Write, replaced: &Replaced) -> (Write, String) {
        match self.change {
            Some(change) => {
                let room = Room::of(change);
                let write = room.added(write).set_to("w.#op", "if_not_exists(v, :zero) + :delta");
                (write.answering(ReturnValue::UpdatedNew), format!(" AND {}", room.condition()))
            }
            None if replaced.own.is_some() => (write.remove(&["w.#op"]), String::new()),
            None => (write, String::new()),
        }
    }

    /// Returns the outcome of a write that was made.
    fn entered(&self, row: Option<&Row>) -> Result<Entered> {
        let Some(change) = self.change else {
            return Ok(Entered::Now(None));
        };
        // The first write of a counter returns no row.
        let value = row.map_or(Ok(change.delta), value_in);
        Ok(Entered::Now(Some(value.map_err(Error::after_unresolved)?)))
    }

    fn found(&self, entries: &Entries<'_>, entry: Entry) -> Result<Entered> {
        let value = entries.value_after(&self.name)?;
        Ok(if entry.by == self.by { Entered::Now(value) } else { Entered::Before(entry, value) })
    }
}

impl Replaced {
    fn own(&self, write: Write) -> (Write, &'static str) {
        match &self.own {
            Some(own) => (write.value(":own", &own.bytes()[..]), "d.#op = :own"),
            None => (write, "attribute_not_exists(d.#op)"),
        }
    }

    fn void(&self, write: Write) -> (Write, &'static str) {
        match &self.void {
            Some(void) => (write.value(":void", &void.bytes()[..]).remove(&["x.#op"]), "x.#op = :void"),
            None => (write, "attribute_not_exists(x.#op)"),
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
