//! Reads the report of `hand-out` independently of the command's code.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, bail, ensure};

const HEADER: &str = "id,item,outcome";

/// The content of one or more reports. Errors name lines instead of items, because an item may be worth money.
#[derive(Debug, Default)]
pub(crate) struct HandOutReport<'a> {
    pub(crate) lines: usize,
    /// The item of each id; `None` if no item was left.
    pub(crate) by_id: HashMap<&'a str, Option<&'a str>>,
    pub(crate) items: HashSet<&'a str>,
}

impl<'a> HandOutReport<'a> {
    /// Reads the reports of all runs on one bank. Fails if an id has two items or an item has two ids.
    pub(crate) fn read(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut report = Self::default();
        for text in texts {
            let mut lines = text.lines();
            ensure!(lines.next() == Some(HEADER), "the first line of a report is not `{HEADER}`");
            for (number, line) in lines.enumerate() {
                report.add(line, number + 2)?;
            }
        }
        Ok(report)
    }

    fn add(&mut self, text: &'a str, line: usize) -> Result<()> {
        self.lines += 1;
        let Some((id, item)) = fields(text) else {
            bail!("line {line} of a report does not have an id, an item and an outcome")
        };
        match self.by_id.insert(id, item) {
            Some(earlier) => ensure!(earlier == item, "the id on line {line} of a report has two items"),
            None => ensure!(
                item.is_none_or(|item| self.items.insert(item)),
                "the item on line {line} of a report has two ids"
            ),
        }
        Ok(())
    }

    /// Checks that every item is in the bank.
    pub(crate) fn check_items(&self, bank: &str) -> Result<()> {
        let bank: HashSet<_> = bank.lines().collect();
        let others = self.items.iter().filter(|item| !bank.contains(*item)).count();
        ensure!(others == 0, "{others} items of a report were never in the bank");
        Ok(())
    }

    /// Checks that each person has an item.
    pub(crate) fn check_people(&self, people: usize) -> Result<()> {
        check_count("people", people, self.by_id.len())?;
        check_count("items given", people, self.items.len())
    }
}

pub(crate) fn check_count(what: &str, expected: usize, found: usize) -> Result<()> {
    ensure!(expected == found, "{what}: {found}, not {expected}");
    Ok(())
}

/// Returns the id, which may be quoted and contain commas, and its item.
fn fields(line: &str) -> Option<(&str, Option<&str>)> {
    // The items of these checks contain no quotes and no commas.
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

    fn report(lines: &[&str]) -> String {
        [&[HEADER], lines].concat().join("\n")
    }

    #[test]
    fn ids_and_items_are_read_from_a_correct_report() {
        let text = report(&["ada,A,new", "bob,B,new", "ada,A,again", "\"c,d\",,empty"]);
        let report = HandOutReport::read([text.as_str(), text.as_str()]).unwrap();
        assert_eq!((report.lines, report.by_id.len(), report.items.len()), (8, 3, 2));
        assert!(report.check_people(3).unwrap_err().to_string().contains("items given: 2, not 3"));
    }

    #[test]
    fn the_error_for_a_wrong_report_names_the_line() {
        for (lines, why) in [
            (vec!["ada,A,new", "ada,B,new"], "the id on line 3 of a report has two items"),
            (vec!["ada,A,new", "ada,,empty"], "the id on line 3 of a report has two items"),
            (vec!["ada,A,new", "bob,A,new"], "the item on line 3 of a report has two ids"),
            (vec!["ada,A,lost"], "line 2 of a report does not have an id, an item and an outcome"),
            (vec!["ada,,new"], "line 2 of a report does not have an id, an item and an outcome"),
            (vec!["ada"], "line 2 of a report does not have an id, an item and an outcome"),
        ] {
            assert_eq!(HandOutReport::read([report(&lines).as_str()]).unwrap_err().to_string(), why);
        }
        assert!(HandOutReport::read([""]).is_err());
        assert!(HandOutReport::read([report(&["ada,A,new"]).as_str(), &report(&["bob,A,new"])]).is_err());
    }

    #[test]
    fn an_item_that_was_never_in_the_bank_is_reported() {
        let text = report(&["ada,A,new"]);
        let report = HandOutReport::read([text.as_str()]).unwrap();
        assert!(report.check_items("A\nB").is_ok());
        assert_eq!(report.check_items("B").unwrap_err().to_string(), "1 items of a report were never in the bank");
    }
}
