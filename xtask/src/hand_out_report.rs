//! Reads the report of `hand-out` independently of the command's code.

use std::collections::{HashMap, HashSet};
use std::fmt;

const HEADER: &str = "id,item,outcome";

/// The content of the report.
#[derive(Debug)]
pub(crate) struct HandOutReport<'a> {
    pub(crate) lines: usize,
    /// The item of each id; `None` if no item was left.
    pub(crate) by_id: HashMap<&'a str, Option<&'a str>>,
    pub(crate) items: HashSet<&'a str>,
}

/// The reason why the report is wrong. It names lines and never their content, because items are worth money.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    NoHeader,
    Malformed { line: usize },
    TwoItems { line: usize },
    GivenTwice { line: usize },
    NotInTheBank { items: usize },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader => write!(f, "its first line is not `{HEADER}`"),
            Self::Malformed { line } => write!(f, "line {line} has not an id, an item and an outcome"),
            Self::TwoItems { line } => write!(f, "the id on line {line} has another item above"),
            Self::GivenTwice { line } => write!(f, "the item on line {line} is another id's above"),
            Self::NotInTheBank { items } => write!(f, "{items} of its items were never in the bank"),
        }
    }
}

impl<'a> HandOutReport<'a> {
    /// Reads the report. Fails if an id has two items or an item has two ids.
    pub(crate) fn read(text: &'a str) -> Result<Self, Fault> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err(Fault::NoHeader);
        }
        let mut given = Self { lines: 0, by_id: HashMap::new(), items: HashSet::new() };
        for line in lines {
            given.lines += 1;
            given.add(line, given.lines + 1)?;
        }
        Ok(given)
    }

    fn add(&mut self, text: &'a str, line: usize) -> Result<(), Fault> {
        let (id, item) = fields(text).ok_or(Fault::Malformed { line })?;
        match self.by_id.insert(id, item) {
            Some(earlier) if earlier != item => Err(Fault::TwoItems { line }),
            Some(_) => Ok(()),
            None if item.is_some_and(|item| !self.items.insert(item)) => Err(Fault::GivenTwice { line }),
            None => Ok(()),
        }
    }

    /// Checks that every item is in the bank.
    pub(crate) fn all_from(&self, bank: &str) -> Result<(), Fault> {
        let bank: HashSet<_> = bank.lines().collect();
        match self.items.iter().filter(|item| !bank.contains(*item)).count() {
            0 => Ok(()),
            items => Err(Fault::NotInTheBank { items }),
        }
    }
}

/// Returns the id and its item. The id may be quoted and contain commas; the items handed out here contain neither.
fn fields(line: &str) -> Option<(&str, Option<&str>)> {
    let mut fields = line.rsplitn(3, ',');
    let (outcome, item, id) = (fields.next()?, fields.next()?, fields.next()?);
    match (outcome, item) {
        ("empty", "") => Some((id, None)),
        ("new" | "again", item) if !item.is_empty() => Some((id, Some(item))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<(usize, usize, usize), Fault> {
        let text = [&[HEADER], lines].concat().join("\n");
        HandOutReport::read(&text).map(|given| (given.lines, given.by_id.len(), given.items.len()))
    }

    #[test]
    fn a_right_file_is_counted() {
        let lines = ["ada,A,new", "bob,B,new", "ada,A,again", "\"c,d\",,empty"];
        assert_eq!(read(&lines), Ok((4, 3, 2)));
    }

    #[test]
    fn each_wrong_is_found() {
        assert_eq!(read(&["ada,A,new", "ada,B,new"]), Err(Fault::TwoItems { line: 3 }));
        assert_eq!(read(&["ada,A,new", "ada,,empty"]), Err(Fault::TwoItems { line: 3 }));
        assert_eq!(read(&["ada,A,new", "bob,A,new"]), Err(Fault::GivenTwice { line: 3 }));
        assert_eq!(read(&["ada,A,lost"]), Err(Fault::Malformed { line: 2 }));
        assert_eq!(read(&["ada,,new"]), Err(Fault::Malformed { line: 2 }));
        assert_eq!(read(&["ada"]), Err(Fault::Malformed { line: 2 }));
        assert_eq!(HandOutReport::read("").unwrap_err(), Fault::NoHeader);
    }

    #[test]
    fn an_item_from_nowhere_is_found() {
        let given = HandOutReport::read("id,item,outcome\nada,A,new").unwrap();
        assert_eq!(given.all_from("A\nB"), Ok(()));
        assert_eq!(given.all_from("B"), Err(Fault::NotInTheBank { items: 1 }));
    }
}
