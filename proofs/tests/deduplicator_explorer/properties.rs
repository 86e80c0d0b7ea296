//! Checks in every state, whatever calls are in progress and whatever requests are in flight.

use std::collections::BTreeMap;
use std::fmt;

use crate::answers::Answers;
use crate::record::{Written, id_of};
use crate::stores::{Seen, SeenBank};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    /// The same id gets the same item of one bank.
    A1,
    /// An id never has two items, and two ids never have the same item.
    A2,
    /// A crash after any step loses nothing.
    A3,
    /// An id whose bank was empty may choose another bank.
    A4,
}

#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) clause: Clause,
    what: String,
}

impl Violation {
    pub(crate) fn found<T>(clause: Clause, what: String) -> Result<T, Self> {
        Err(Self { clause, what })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clause = match self.clause {
            Clause::A1 => "A-1",
            Clause::A2 => "A-2",
            Clause::A3 => "A-3",
            Clause::A4 => "A-4",
        };
        write!(f, "{clause}: {}", self.what)
    }
}

pub(crate) fn check(seen: &Seen, answers: &Answers) -> Result<(), Violation> {
    answers_stand(seen, answers)?;
    assigned_items_are_held(seen)?;
    one_item_an_id(seen)?;
    seen.banks.iter().try_for_each(|(name, bank)| conserved(name, bank))?;
    held_items_are_on_record(seen)
}

/// the record of an id agrees with every answer that the id got.
fn answers_stand(seen: &Seen, answers: &Answers) -> Result<(), Violation> {
    for (id, (bank, item)) in &answers.given {
        match seen.records.get(*id) {
            Some((_, Written::Assigned(intent, assigned))) if intent.bank == *bank && assigned == item => {}
            Some((_, record)) => {
                return Violation::found(Clause::A1, format!("{id} got {item} of {bank}, but its record is {record}"));
            }
            None => {
                return Violation::found(Clause::A1, format!("{id} got {item} of {bank}, but has no record"));
            }
        }
    }
    Ok(())
}

/// an item that a record assigns to an id is held by the claim of this id.
fn assigned_items_are_held(seen: &Seen) -> Result<(), Violation> {
    for (id, (_, record)) in &seen.records {
        let Written::Assigned(intent, item) = record else {
            continue;
        };
        let held = (intent.claim(id), item.clone());
        if !seen.banks[&intent.bank].holders.contains(&held) {
            return Violation::found(Clause::A2, format!("{item} is assigned to {id}, whose claim does not hold it"));
        }
    }
    Ok(())
}

/// an id never holds two items, at any moment.
fn one_item_an_id(seen: &Seen) -> Result<(), Violation> {
    let mut holders = BTreeMap::new();
    for (claim, item) in held(seen).map(|(_, held)| held) {
        if let Some(other) = holders.insert(id_of(claim), item) {
            return Violation::found(Clause::A2, format!("{} holds both {other} and {item}", id_of(claim)));
        }
    }
    Ok(())
}

/// every added item is free or held.
fn conserved(name: &str, bank: &SeenBank) -> Result<(), Violation> {
    let listed = bank.holders.len() as u64;
    if bank.total == bank.added && bank.free + bank.held == bank.total && bank.held == listed {
        return Ok(());
    }
    Violation::found(Clause::A3, format!("the items of bank {name} do not add up: {bank:?}"))
}

/// for every held item, a record names the claim that holds the item.
fn held_items_are_on_record(seen: &Seen) -> Result<(), Violation> {
    for (bank, (claim, item)) in held(seen) {
        let id = id_of(claim);
        let intent = seen.records.get(id).and_then(|(_, record)| record.intent());
        if !intent.is_some_and(|intent| intent.bank == *bank && intent.claim(id) == *claim) {
            return Violation::found(Clause::A3, format!("{item} is held by {claim}, which no record names"));
        }
    }
    Ok(())
}

/// A-3 after a recovery: no record is in an intermediate state.
pub(crate) fn check_recovered(seen: &Seen) -> Result<(), Violation> {
    for (id, (_, record)) in &seen.records {
        if record.is_half_way() {
            return Violation::found(Clause::A3, format!("recovery left {id} half-way: {record}"));
        }
    }
    Ok(())
}

fn held(seen: &Seen) -> impl Iterator<Item = (&String, &(String, String))> {
    seen.banks.iter().flat_map(|(name, bank)| bank.holders.iter().map(move |held| (name, held)))
}
