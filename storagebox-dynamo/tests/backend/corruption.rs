//! Rows that another program changed: an attribute is missing, of another type, out of range, or cut off.
//!
//! The tests damage every attribute of every row of every part in every way of [`damage`], and make every call of the
//! part. A call either does its work, because it does not need the damaged data, or returns `Corrupt` at once and
//! changes nothing.

mod bank;
mod beyond;
mod counters;
mod damage;
mod entities;
mod ordered;
mod records;
mod tokens;

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, kinds};
use storagebox_testkit::dynamodb::faults::Faults;

use crate::scene::{in_place, recorded};
use crate::support::{Place, failed};
use damage::{Damage, Rows, snapshot};

struct Part {
    /// The beginning of the partition keys of the part's rows, after the prefix.
    rows: &'static str,
    fill: for<'a> fn(&'a Place, &'a DynamoStore, &'a str) -> Filling<'a>,
    calls: fn(&dyn Backend, &str) -> Result<Vec<Call>>,
    /// Damage that no call can notice: it equals data that the library writes, or no call reads it.
    unnoticed: Unnoticed,
}

const NAMESPACE: &str = "namespace";
const NEIGHBOUR: &str = "neighbour";
/// The largest number of requests with which a call looks for the reason of a refusal.
const LOOKS: usize = 6;

macro_rules! stands_damage {
    ($($name:ident: $part:expr;)*) => {$(
        #[tokio::test]
        async fn $name() -> Result<()> {
            stands_damage(&$part).await
        }
    )*};
}

stands_damage! {
    a_damaged_bank_is_corrupt_at_once_and_unchanged: bank::PART;
    damaged_records_and_leases_are_corrupt_at_once_and_unchanged: records::PART;
    damaged_tokens_are_corrupt_at_once_and_unchanged: tokens::PART;
    damaged_entities_are_corrupt_at_once_and_unchanged: entities::PART;
    damaged_markers_are_corrupt_at_once_and_unchanged: counters::MARKER;
    a_damaged_set_is_corrupt_at_once_and_unchanged: counters::SET;
    a_damaged_history_is_corrupt_at_once_and_unchanged: counters::OPTIMISTIC;
    damaged_shards_are_corrupt_at_once_and_unchanged: counters::SHARDED;
    a_damaged_ledger_is_corrupt_at_once_and_unchanged: counters::LEDGER;
    damaged_ordered_values_are_corrupt_at_once_and_unchanged: ordered::PART;
}

/// A damaged namespace, a second namespace of the same kind, and every call of both.
struct Scene<'a> {
    place: &'a Place,
    faults: Faults,
    calls: Vec<Call>,
    neighbours: Vec<Call>,
    whole: Rows,
    wrong: Vec<String>,
}

async fn stands_damage(part: &Part) -> Result<()> {
    in_place(async |place| {
        let mut scene = Scene::of(place, part).await?;
        let (mut tried, mut noticed) = (BTreeSet::new(), BTreeSet::new());
        let base = format!("{}{}:{}:{NAMESPACE}:", place.prefix, part.rows, NAMESPACE.len());
        for damage in Damage::all(&scene.whole, &base) {
            let kind = damage.kind(&base);
            let is_first = tried.insert(kind.clone());
            if scene.stands(&damage).await? {
                noticed.insert(kind);
            }
            if is_first {
                scene.leaves_neighbours(&damage).await?;
            }
            restore(scene.place, &scene.whole).await?;
        }
        assert!(scene.wrong.is_empty(), "{} times wrong: {:#?}", scene.wrong.len(), scene.wrong);
        let unnoticed: BTreeSet<_> = tried.difference(&noticed).cloned().collect();
        assert_eq!(unnoticed, kinds(part.unnoticed), "damage that no call noticed");
        Ok(())
    })
    .await
}

impl<'a> Scene<'a> {
    async fn of(place: &'a Place, part: &Part) -> Result<Self> {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        (part.fill)(place, &store, NAMESPACE).await?;
        (part.fill)(place, &store, NEIGHBOUR).await?;
        let (calls, neighbours) = ((part.calls)(&store, NAMESPACE)?, (part.calls)(&store, NEIGHBOUR)?);
        let whole = snapshot(place).await?;
        let mut scene = Self { place, faults, calls, neighbours, whole, wrong: vec![] };
        for call in scene.calls.iter_mut().chain(&mut scene.neighbours) {
            place.clock.advance(Duration::from_millis(1));
            scene.faults.taken();
            call.make().await?;
            call.trips = scene.faults.taken().len();
            restore(place, &scene.whole).await?;
        }
        Ok(scene)
    }

    /// Makes the calls on the damaged rows. Returns whether any call noticed the damage.
    async fn stands(&mut self, damage: &Damage) -> Result<bool> {
        damage.inflict(self.place).await?;
        let damaged = snapshot(self.place).await?;
        let mut noticed = false;
        for number in 0..self.calls.len() {
            if !damage.concerns(&self.calls[number].name) {
                continue;
            }
            let outcome = self.made(number).await;
            let found = snapshot(self.place).await?;
            noticed |= self.notices(damage, number, outcome, found == damaged);
            put_back(self.place, &found, &damaged).await?;
        }
        Ok(noticed)
    }

    /// Checks that the calls of the second namespace succeed.
    async fn leaves_neighbours(&mut self, damage: &Damage) -> Result<()> {
        for call in self.neighbours.iter().filter(|call| damage.concerns(&call.name)) {
            self.place.clock.advance(Duration::from_millis(1));
            if let Err(error) = call.make().await {
                self.wrong.push(format!("{damage}: beside it, {}: {error}", call.name));
            }
        }
        Ok(())
    }

    /// Makes a call. Returns its outcome and the number of its requests.
    async fn made(&self, number: usize) -> (Result<()>, usize) {
        // DynamoDB takes an identical transaction for a repetition, and does nothing.
        self.place.clock.advance(Duration::from_millis(1));
        self.faults.taken();
        let outcome = self.calls[number].make().await;
        (outcome, self.faults.taken().len())
    }

    /// Returns whether the call noticed the damage. Adds wrong outcomes to `wrong`.
    fn notices(&mut self, damage: &Damage, number: usize, made: (Result<()>, usize), is_as_it_was: bool) -> bool {
        let (call, (outcome, trips)) = (&self.calls[number], made);
        let is_at_once = trips <= call.trips + LOOKS;
        let Err(error) = outcome else {
            if !is_at_once {
                self.wrong.push(format!("{damage}: {}: {trips} requests instead of {}", call.name, call.trips));
            }
            return false;
        };
        // A take may have ended a lapsed hold before it read the damaged row.
        let is_honest = call.name.starts_with("take") || is_as_it_was == (error.certainty() == Certainty::NotApplied);
        if error.kind() != ErrorKind::Corrupt || !is_at_once || !is_honest {
            let trips = format!("{trips} requests instead of {}", call.trips);
            self.wrong.push(format!("{damage}: {}: {error:?}, {trips}, as it was: {is_as_it_was}", call.name));
        }
        true
    }
}

async fn restore(place: &Place, rows: &Rows) -> Result<()> {
    put_back(place, &snapshot(place).await?, rows).await
}

/// Restores all rows to `rows`. `found` are the present rows.
async fn put_back(place: &Place, found: &Rows, rows: &Rows) -> Result<()> {
    for (key, row) in found {
        if !rows.contains_key(key) {
            let delete = place.table.raw().delete_item().table_name(&place.name);
            let delete = delete.key("pk", row["pk"].clone()).key("sk", row["sk"].clone());
            delete.send().await.map_err(failed)?;
        }
    }
    for (key, row) in rows {
        if found.get(key) != Some(row) {
            put(place, row.clone()).await?;
        }
    }
    Ok(())
}

async fn put(place: &Place, row: std::collections::HashMap<String, AttributeValue>) -> Result<()> {
    let put = place.table.raw().put_item().table_name(&place.name).set_item(Some(row));
    put.send().await.map(drop).map_err(failed)
}
