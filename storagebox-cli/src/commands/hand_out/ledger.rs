//! The answers to all lines, in little memory: one entry per id, and each text once.

use std::collections::{HashMap, HashSet};

use storagebox::values::{ClaimId, Item};

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub id: ClaimId,
    pub answer: Answer,
}

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    New(Item),
    Again(Item),
    Empty,
    Ended,
}

impl Entry {
    pub(crate) fn fields(&self) -> [&str; 3] {
        let (item, outcome) = match &self.answer {
            Answer::New(item) => (item.as_str(), "new"),
            Answer::Again(item) => (item.as_str(), "again"),
            Answer::Empty => ("", "empty"),
            Answer::Ended => ("", "ended"),
        };
        [self.id.as_str(), item, outcome]
    }
}

/// The answers to all lines of one id.
#[derive(Debug, Default)]
struct Person {
    item: Option<Item>,
    new: bool,
    empty: bool,
}

/// All answers so far, and the faults among them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    people: HashMap<ClaimId, Person>,
    items: HashSet<Item>,
    summary: Summary,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub lines: u64,
    pub new: u64,
    pub again: u64,
    pub empty: u64,
    pub ended: u64,
    pub distinct_ids: u64,
    /// Ids that have an item.
    pub given: u64,
    /// Ids that have an item and no `new` line. They had it before the run, or took it by a call whose reply was lost.
    pub perhaps_new: u64,
    /// Items that two or more ids got.
    pub shared_items: u64,
    /// Lines whose item differs from that of an earlier line of the same id.
    pub changed_items: u64,
    /// Lines that took an item for an id that had already taken one in this run.
    pub taken_twice: u64,
    /// Ids that met an empty bank on one line and have an item on another.
    pub empty_and_given: u64,
}

impl Summary {
    pub(crate) fn ids_without_item(&self) -> u64 {
        self.distinct_ids - self.given
    }
}

impl Ledger {
    pub(crate) fn enter(&mut self, entry: Entry) {
        self.summary.lines += 1;
        let person = self.people.entry(entry.id).or_default();
        match entry.answer {
            Answer::New(item) => {
                self.summary.new += 1;
                self.summary.taken_twice += u64::from(person.new);
                person.new = true;
                give(person, item, &mut self.items, &mut self.summary);
            }
            Answer::Again(item) => {
                self.summary.again += 1;
                give(person, item, &mut self.items, &mut self.summary);
            }
            Answer::Empty => {
                self.summary.empty += 1;
                person.empty = true;
            }
            Answer::Ended => self.summary.ended += 1,
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        let count = |is: fn(&Person) -> bool| self.people.values().filter(|person| is(person)).count() as u64;
        Summary {
            distinct_ids: self.people.len() as u64,
            given: count(|person| person.item.is_some()),
            perhaps_new: count(|person| person.item.is_some() && !person.new),
            empty_and_given: count(|person| person.empty && person.item.is_some()),
            ..self.summary
        }
    }
}

fn give(person: &mut Person, item: Item, items: &mut HashSet<Item>, summary: &mut Summary) {
    match &person.item {
        Some(had) => summary.changed_items += u64::from(*had != item),
        None => {
            summary.shared_items += u64::from(!items.insert(item.clone()));
            person.item = Some(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: [(&str, &str, bool); 2]) -> Summary {
        let mut ledger = Ledger::default();
        for (id, item, is_new) in lines {
            let (id, item) = (ClaimId::new(id).unwrap(), Item::new(item).unwrap());
            let answer = if is_new { Answer::New(item) } else { Answer::Again(item) };
            ledger.enter(Entry { id, answer });
        }
        ledger.summary()
    }

    /// If an id was served in an earlier run, the outcome of its line is `again` and not `new`.
    #[test]
    fn an_item_of_two_ids_is_found_if_an_outcome_is_new_or_again() {
        for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
            let of_two = summary([("ada", "SAVE-1", first), ("bob", "SAVE-1", second)]);
            assert_eq!((of_two.shared_items, of_two.changed_items), (1, 0), "new: {first}, {second}");
            let of_one = summary([("ada", "SAVE-1", first), ("ada", "SAVE-2", second)]);
            assert_eq!((of_one.shared_items, of_one.changed_items), (0, 1), "new: {first}, {second}");
        }
    }
}
