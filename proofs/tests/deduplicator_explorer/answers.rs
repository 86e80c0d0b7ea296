//! The answers that callers got, which no later event may make untrue.

use std::collections::{BTreeMap, BTreeSet};

use storagebox_core::Assigned;

use crate::properties::{Clause, Violation};

#[derive(Debug, Default, Hash)]
pub(crate) struct Answers {
    /// The bank and the item that each id got.
    pub(crate) given: BTreeMap<&'static str, (String, String)>,
    /// The ids that got the answer `New`.
    new: BTreeSet<&'static str>,
}

/// Returns the assignment as text.
pub(crate) fn told(assigned: &Assigned) -> String {
    match assigned {
        Assigned::New { bank, item } => format!("new item {} of {bank}", item.as_str()),
        Assigned::Again { bank, item } => format!("again item {} of {bank}", item.as_str()),
        Assigned::Empty => "empty".to_owned(),
    }
}

impl Answers {
    /// Adds the answer that an id got. `never_empty` says that the requested bank had a free item throughout the call.
    pub(crate) fn add(&mut self, id: &'static str, assigned: &Assigned, never_empty: bool) -> Result<(), Violation> {
        match assigned {
            Assigned::Empty if never_empty => {
                Violation::found(Clause::A3, format!("{id} got `Empty` although its bank always had a free item"))
            }
            Assigned::Empty => Ok(()),
            Assigned::New { bank, item } => {
                self.first_time(id)?;
                self.give(id, bank.as_str(), item.as_str())
            }
            Assigned::Again { bank, item } => self.give(id, bank.as_str(), item.as_str()),
        }
    }

    fn first_time(&mut self, id: &'static str) -> Result<(), Violation> {
        if self.new.insert(id) {
            return Ok(());
        }
        Violation::found(Clause::A1, format!("{id} got `New` twice"))
    }

    fn give(&mut self, id: &'static str, bank: &str, item: &str) -> Result<(), Violation> {
        let answer = (bank.to_owned(), item.to_owned());
        if let Some((other, _)) = self.given.iter().find(|(other, given)| **other != id && **given == answer) {
            return Violation::found(Clause::A2, format!("{answer:?} was given to {id} and to {other}"));
        }
        match self.given.insert(id, answer.clone()) {
            Some(before) if before != answer => {
                Violation::found(Clause::A1, format!("{id} got the item {before:?}, and then the item {answer:?}"))
            }
            _ => Ok(()),
        }
    }
}
