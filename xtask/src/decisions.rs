//! Checks the decisions in `docs/adr`: each has a status and is in the index.

use anyhow::Result;

use crate::workspace;

const FOLDER: &str = "docs/adr";
const INDEX: &str = "docs/adr/README.md";

/// Returns the rows that the index must have, in the order of the decisions.
fn rows() -> Result<Vec<String>> {
    let paths = workspace::entries(FOLDER)?;
    let names: Vec<_> = paths.iter().map(|path| workspace::name(path)).filter(|name| name != "README.md").collect();
    let row = |name: &String| {
        let text = workspace::read(format!("{FOLDER}/{name}"))?;
        Ok(row(name, &text, &names).unwrap_or_default())
    };
    names.iter().map(row).collect()
}

/// Returns the row of a decision, or `None` if its heading, its date or its status is malformed.
fn row(name: &str, text: &str, names: &[String]) -> Option<String> {
    let (heading, rest) = text.split_once("\n\n")?;
    let (number, title) = heading.strip_prefix("# ")?.split_once(". ")?;
    let (date, status) = rest.split_once(".\n\n")?.0.split_once(", ")?;
    let is_dated = date.len() == 10 && date.split('-').all(|part| part.parse::<u16>().is_ok());
    let is_named = name.starts_with(&format!("{number:0>4}-"));
    (is_dated && is_named && is_status(status, number, names))
        .then(|| format!("| [{number}]({name}) | {title} | {status} |"))
}

/// Returns whether the status is valid: accepted, withdrawn, or replaced by an existing later decision.
fn is_status(status: &str, number: &str, names: &[String]) -> bool {
    let replaced = status.strip_prefix("in part ").unwrap_or(status).strip_prefix("replaced by [ADR ");
    let Some((later, link)) = replaced.and_then(|rest| rest.split_once("](")) else {
        return ["accepted", "withdrawn"].contains(&status);
    };
    let is_later = number.parse::<u16>().ok() < later.parse().ok();
    let is_there =
        names.iter().any(|name| link.strip_suffix(')') == Some(name) && name.starts_with(&format!("{later:0>4}-")));
    is_later && is_there
}

#[test]
fn each_decision_has_a_status_and_is_in_the_index() {
    let index = workspace::read(INDEX).unwrap();
    let listed: Vec<_> = index.lines().filter(|line| line.starts_with("| [")).collect();
    let expected = rows().unwrap();
    assert!(expected.len() >= 20);
    assert_eq!(listed, expected);
}

#[test]
fn a_decision_without_a_status_has_no_row() {
    let names = ["0001-a.md", "0002-b.md"].map(str::to_owned);
    let row = |status: &str| row("0001-a.md", &format!("# 1. A title\n\n2026-11-20, {status}.\n\nText.\n"), &names);
    for status in ["accepted", "withdrawn"] {
        assert_eq!(row(status).unwrap(), format!("| [1](0001-a.md) | A title | {status} |"));
    }
    let replaced = "in part replaced by [ADR 2](0002-b.md)";
    assert_eq!(row(replaced).unwrap(), format!("| [1](0001-a.md) | A title | {replaced} |"));
    for wrong in ["", "old", "replaced by [ADR 3](0003-c.md)", "replaced by [ADR 1](0001-a.md)", "replaced by ADR 2"] {
        assert_eq!(row(wrong), None, "{wrong}");
    }
}
