//! Operations inside the counter's row: for ever (article 5, approach 7) or for a time (article 3).
//!
//! The article's list that loses its head with each addition is refused by DynamoDB, as one update may not touch a list
//! and an element of it. Here an operation that has lapsed is removed by name, under the condition that it is the very
//! one that was seen to have lapsed; so nothing is ever forgotten early.

use std::time::Duration;

use storagebox_core::{Cancelled, Change, Counted, Key, OpId, Result};

use super::contention;
use super::entries::{Entries, Entry, first, name};
use super::room::Room;
use super::values::{Values, mark, value_in};
use crate::client::{Client, Tag, Write, Wrote};
use crate::row::{Row, RowKey};

/// How many lapsed operations one update removes. Each addition to a full window makes one; the rest is for those to
/// come.
const SWEPT: usize = 20;
/// How often an attempt may find the row changed.
const LOOKS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    capacity: u32,
    lifetime: Option<Duration>,
}

/// What wants a place in the set, through all the attempts of a call.
struct Entrant<'a> {
    row: RowKey,
    name: String,
    /// The change, or none for a fence.
    change: Option<&'a Change>,
    /// What this call leaves with its operation.
    by: [u8; 6],
}

/// What became of it.
enum Entered {
    /// It has its place; with the value after it.
    Now(Option<i64>),
    Before(Entry, Option<i64>),
    Rejected(Counted),
    Full,
}

/// What a refusal leads to.
enum Next {
    End(Entered),
    Try(Lapsed),
}

/// Operations that were seen to have lapsed.
#[derive(Default)]
struct Lapsed {
    /// The entrant's own, which its new one replaces.
    own: Option<Entry>,
    others: Vec<(String, Entry)>,
}

impl Set {
    pub(super) fn new(capacity: u32, lifetime: Option<Duration>) -> Self {
        Self { capacity, lifetime }
    }

    pub(super) async fn apply(&self, values: &Values, key: &Key, change: &Change) -> Result<Counted> {
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
        values.changed(attempt).await
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

    /// One attempt. At first there is taken to be a row with a place in it; each refusal tells more.
    async fn enter(&self, values: &Values, entrant: &Entrant<'_>) -> Result<Entered> {
        values.ready().await?;
        let client = values.client();
        let mut write = self.addition(client, entrant, &Lapsed::default());
        for _ in 0..LOOKS {
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
            // What this call left is its own, whatever time has passed since.
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

    /// How many operations there may be fewer than, before these go.
    fn places(&self, lapsed: &Lapsed) -> usize {
        self.capacity as usize + lapsed.others.len() + usize::from(lapsed.own.is_some())
    }

    /// Adds the entrant and removes what has lapsed, in one update.
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

    /// The row of a counter's first operation.
    fn first(&self, client: &Client) -> Write {
        let entry = self.entry(client);
        let row = Row::new(&self.row).with("v", entry.delta.unwrap_or(0));
        Write::put(first(row, &self.name, &entry)).only_if("attribute_not_exists(pk)")
    }

    /// Lets the change count, and says where it may.
    fn counted(&self, write: Write, lapsed: &Lapsed) -> (Write, String) {
        match self.change {
            Some(change) => {
                let room = Room::of(change);
                let write = room.added(write).set_to("w.#op", "if_not_exists(v, :zero) + :delta");
                (write.answering_updated(), format!(" AND {}", room.condition()))
            }
            None if lapsed.own.is_some() => (write.remove(&["w.#op"]), String::new()),
            None => (write, String::new()),
        }
    }

    /// A first row has the delta for its value, and a fence has none.
    fn entered(&self, row: Option<&Row>) -> Result<Entered> {
        let Some(change) = self.change else {
            return Ok(Entered::Now(None));
        };
        let value = row.map_or(Ok(change.delta), value_in);
        Ok(Entered::Now(Some(value.map_err(storagebox_core::Error::after_unresolved)?)))
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
