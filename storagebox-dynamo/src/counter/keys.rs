//! Operations inside the counter's row by their keys alone, as articles 3 and 5 have them: no delta, no value, no time.
//!
//! A set of the article's has no order, so nothing can be removed from it by age. Here a window has a set for each slot
//! of its time, and a change goes into the newest, which it names: no other slot ever grows. So a call that has read
//! the row knows the other slots, and removes lapsed slots in the update that adds a key.

mod row;
mod slots;

use std::time::Duration;

use storagebox_core::{Cancelled, Change, Counted, Key, OpId, Result};

use super::beaten;
use super::entries::RECORD_BYTES;
use super::room::Room;
use super::values::Values;
use crate::client::{Client, Tag, Write, Wrote};
use crate::error::bad;
use crate::row::{Row, RowKey};
pub(crate) use row::{BESIDE_KEYS, KEY_BYTES};
use row::{Kept, OpKey, name};
use slots::Slots;
pub(crate) use slots::{SLOTS, slot_of};

/// How many operations a row holds.
pub(super) fn most_keys() -> u32 {
    (RECORD_BYTES - BESIDE_KEYS) / KEY_BYTES
}

/// How often an attempt may find the row changed.
const LOOKS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    capacity: u32,
    slots: Slots,
}

/// What wants a place, through all the attempts of a call.
struct Entrant<'a> {
    row: RowKey,
    op: &'a OpId,
    /// The change, or none for a fence.
    change: Option<&'a Change>,
    tag: Tag,
}

/// What became of it.
enum Entered {
    Now,
    Applied,
    Fenced,
    Rejected(Counted),
    Full,
}

/// What a refusal leads to.
enum Next {
    End(Entered),
    Try(Box<Write>),
}

/// The slots of a row, as an update needs to know them.
struct Plan {
    /// The slot to write to.
    newest: i64,
    oldest: i64,
    /// Those that go, and how many operations with them.
    leaving: Vec<(i64, usize)>,
}

impl Plan {
    /// What a slot is called in expressions, which may have 4 KB.
    fn place(&self, slot: i64) -> String {
        format!("#k{}", self.newest - slot)
    }

    fn freed(&self) -> usize {
        self.leaving.iter().map(|(_, count)| count).sum()
    }
}

impl Keys {
    /// # Errors
    ///
    /// `InvalidInput` for a lifetime below the skew: too many slots could be open at once.
    pub(super) fn new(capacity: u32, lifetime: Option<Duration>, skew: Duration) -> Result<Self> {
        match lifetime {
            Some(lifetime) if lifetime < skew => {
                let why = format_args!("must be at least max_skew, {skew:?}, where keys are kept alone");
                Err(bad("lifetime", why))
            }
            _ => Ok(Self { capacity, slots: Slots::of(lifetime) }),
        }
    }

    pub(super) async fn apply(&self, values: &Values, key: &Key, change: &Change) -> Result<Counted> {
        let entrant = &Entrant::new(values.row(key), &change.op, Some(change));
        let attempt = || async move {
            Ok(match self.enter(values, entrant).await? {
                Entered::Now => Counted::Applied { value: None },
                Entered::Applied => Counted::AlreadyApplied { value: None },
                Entered::Fenced => Counted::Fenced,
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
                Entered::Applied => Cancelled::AlreadyApplied { value: None },
                Entered::Full => Cancelled::Full,
                Entered::Now | Entered::Fenced | Entered::Rejected(_) => Cancelled::Cancelled,
            })
        };
        values.client().settle("cancel", attempt).await
    }

    /// One attempt. At first the slot of now is taken to be open; each refusal tells more.
    async fn enter(&self, values: &Values, entrant: &Entrant<'_>) -> Result<Entered> {
        values.ready().await?;
        let client = values.client();
        let mut write = self.guess(client, entrant);
        for _ in 0..LOOKS {
            write = match client.write_to(&entrant.row, &write, |row| Kept::of(row).map(drop)).await? {
                Wrote::Done(_) => return Ok(Entered::Now),
                Wrote::Refused(None) => match entrant.rejection(0) {
                    Some(rejected) => return Ok(Entered::Rejected(rejected)),
                    None => entrant.first(self.slots.at(client.now())),
                },
                Wrote::Refused(Some(old)) => match self.judge(client, entrant, &old)? {
                    Next::End(entered) => return Ok(entered),
                    Next::Try(write) => *write,
                },
            };
        }
        Err(beaten())
    }

    /// Without a look at the row: whatever slots it may have are searched.
    fn guess(&self, client: &Client, entrant: &Entrant<'_>) -> Write {
        let newest = self.slots.at(client.now());
        let oldest = self.slots.oldest_beside(newest, client.settings().max_skew);
        let plan = Plan { newest, oldest, leaving: vec![] };
        let (write, condition) = self.addition(entrant, &plan);
        let (write, absent) = (oldest..=newest).fold((write, String::new()), |(write, absent), slot| {
            let (write, one) = entrant.absent(write, &plan, slot);
            (write, absent + &one)
        });
        write.only_if(format!("e = :newest AND b >= :oldest{absent}{condition}"))
    }

    fn judge(&self, client: &Client, entrant: &Entrant<'_>, old: &Row) -> Result<Next> {
        let kept = Kept::of(old)?;
        let oldest = self.slots.oldest(client.surely_past()).max(kept.oldest);
        if let Some(found) = entrant.found(&kept, oldest, old) {
            return Ok(Next::End(found));
        }
        if let Some(rejected) = entrant.rejection(kept.value) {
            return Ok(Next::End(Entered::Rejected(rejected)));
        }
        let newest = self.slots.at(client.now()).max(kept.newest);
        let plan = Plan { newest, oldest, leaving: kept.before(oldest) };
        match kept.count() - plan.freed() < self.capacity as usize {
            true => Ok(Next::Try(Box::new(self.seen(entrant, &kept, &plan)))),
            false => Ok(Next::End(Entered::Full)),
        }
    }

    /// After a look at the row. Its slots are as they were seen as long as the newest and the oldest are the same, but
    /// for the newest, which may have more.
    fn seen(&self, entrant: &Entrant<'_>, kept: &Kept<'_>, plan: &Plan) -> Write {
        let (write, condition) = self.addition(entrant, plan);
        let write = write.set_to("e", ":newest").set_to("b", ":oldest");
        let write = write.value(":open", kept.newest).value(":first", kept.oldest);
        let (write, open) = match plan.leaving.iter().find(|(slot, _)| *slot == kept.newest) {
            Some((slot, count)) => {
                (write.value(":full", *count as u64), format!(" AND size({}) = :full", plan.place(*slot)))
            }
            None => entrant.absent(write, plan, kept.newest),
        };
        let write = plan
            .leaving
            .iter()
            .fold(write, |write, (slot, _)| write.name(&plan.place(*slot), &name(*slot)).remove(&[&plan.place(*slot)]));
        write.only_if(format!("e = :open AND b = :first{open}{condition}"))
    }

    /// Adds the entrant to the newest slot, where there is a place left.
    fn addition(&self, entrant: &Entrant<'_>, plan: &Plan) -> (Write, &'static str) {
        let (newest, freed) = (plan.place(plan.newest), plan.freed());
        let write = Write::update(&entrant.row)
            .tagged(&entrant.tag)
            .name(&newest, &name(plan.newest))
            .add_to(&newest, ":own")
            .value(":own", entrant.key().alone())
            .set_to("q", "q + :more")
            .value(":more", 1 - freed as i64)
            .value(":places", u64::from(self.capacity) + freed as u64)
            .value(":newest", plan.newest)
            .value(":oldest", plan.oldest);
        match entrant.change {
            Some(change) => {
                let write = write.set_to("v", "v + :delta").value(":delta", change.delta);
                (Room::of(change).compared(write), " AND q < :places AND v BETWEEN :low AND :high")
            }
            None => (write, " AND q < :places"),
        }
    }
}

impl<'a> Entrant<'a> {
    fn new(row: RowKey, op: &'a OpId, change: Option<&'a Change>) -> Self {
        Self { row, op, change, tag: Tag::fresh() }
    }

    /// What it leaves in the row.
    fn key(&self) -> OpKey {
        if self.change.is_some() { OpKey::applied(self.op) } else { OpKey::fenced(self.op) }
    }

    fn rejection(&self, value: i64) -> Option<Counted> {
        Room::of(self.change?).rejection(value)
    }

    /// The row of a counter's first operation.
    fn first(&self, slot: i64) -> Write {
        let row = Row::new(&self.row)
            .with("v", self.change.map_or(0, |change| change.delta))
            .with("q", 1_u32)
            .with("e", slot)
            .with("b", slot)
            .with(&name(slot), self.key().alone());
        Write::put(row).tagged(&self.tag).only_if("attribute_not_exists(pk)")
    }

    /// The condition that a slot does not know the operation.
    fn absent(&self, write: Write, plan: &Plan, slot: i64) -> (Write, String) {
        let place = plan.place(slot);
        let write = write
            .name(&place, &name(slot))
            .value(":a", OpKey::applied(self.op).value())
            .value(":f", OpKey::fenced(self.op).value());
        let knows = format!("(contains({place}, :a) OR contains({place}, :f))");
        (write, format!(" AND (attribute_not_exists({place}) OR NOT {knows})"))
    }

    /// What the row knows of the operation. Our own tag tells that it is of this call's attempt whose answer was lost;
    /// once others have written, that cannot be told any more.
    fn found(&self, kept: &Kept<'_>, oldest: i64, row: &Row) -> Option<Entered> {
        if kept.has(OpKey::fenced(self.op), oldest) {
            return Some(Entered::Fenced);
        }
        let is_ours = self.change.is_some() && self.tag.is_on(row);
        // What this call left is its own, whatever time has passed since.
        let oldest = if is_ours { kept.oldest } else { oldest };
        let is_known = kept.has(OpKey::applied(self.op), oldest);
        is_known.then_some(if is_ours { Entered::Now } else { Entered::Applied })
    }
}
