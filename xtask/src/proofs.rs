//! Checks the tables of the articles' warnings and of faults: each proof that they name exists.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::workspace;

const ARTICLES: &str = "docs/ARTICLES.md";
const FAULTS: &str = "conformance/FAULTS.md";
const CASES: &str = "conformance/CLAUSES.md";

/// The text of a row that has no proof and says why.
const NOT_SHOWN: &str = "*not shown*";

/// Each section of the catalogue of faults: its heading, the letter of its fault ids, and its number of faults.
const CATALOGUE: [(&str, &str, usize); 5] = [
    ("Network and client", "N", 14),
    ("Server", "S", 21),
    ("Time", "T", 4),
    ("Values", "V", 14),
    ("Injection and names", "I", 9),
];

const OUTSIDE: [&str; 6] =
    ["disk full", "clock set back", "server paused", "failover", "restore from an hour ago", "total loss"];
const BACKENDS: [&str; 5] = ["memory", "SQLite", "PostgreSQL", "Redis", "DynamoDB"];

/// Returns each proof named in the text that is neither a case of the suite nor a test.
fn missing(text: &str) -> Result<Vec<&str>> {
    let cases = workspace::read(CASES)?;
    let cases: BTreeSet<_> = quoted(&cases).collect();
    let mut missing = vec![];
    for proof in proofs(text) {
        if !cases.contains(proof) && !is_test(proof)? {
            missing.push(proof);
        }
    }
    Ok(missing)
}

/// Returns the names of cases and tests in a text, without the names of library functions.
fn proofs(text: &str) -> impl Iterator<Item = &str> {
    quoted(text)
        .filter(|text| text.rsplit_once("::").is_some_and(|(place, _)| place.contains("::") || place.ends_with(".rs")))
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_test(proof: &str) -> Result<bool> {
    let Some((path, name)) = proof.split_once(".rs::") else { return Ok(false) };
    Ok(workspace::read(format!("{path}.rs"))?.contains(&format!("fn {name}(")))
}

/// Returns the cells of each table row below this heading, up to the next heading of the same level.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_default();
    let lines = section.split("\n## ").next().unwrap_or_default().lines();
    let rows = lines.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    // The first row names the columns.
    rows.skip(1).map(|row| row.split(" | ").collect()).collect()
}

#[test]
fn every_proof_named_in_the_articles_exists() {
    are_there(ARTICLES);
}

#[test]
fn every_proof_named_in_the_fault_table_exists() {
    are_there(FAULTS);
}

fn are_there(table: &str) {
    let table = workspace::read(table).unwrap();
    assert!(proofs(&table).count() > 100);
    assert_eq!(missing(&table).unwrap(), Vec::<&str>::new());
}

#[test]
fn each_fault_has_one_row() {
    let text = workspace::read(FAULTS).unwrap();
    for (heading, letter, count) in CATALOGUE {
        let ids: Vec<_> = rows(&text, heading).into_iter().map(|row| row[0]).collect();
        assert_eq!(ids, (1..=count).map(|number| format!("{letter}{number}")).collect::<Vec<_>>(), "{heading}");
    }
}

#[test]
fn each_fault_from_outside_has_one_row_per_backend() {
    let text = workspace::read(FAULTS).unwrap();
    let found: Vec<_> = rows(&text, "Faults from outside").into_iter().map(|row| (row[0], row[1])).collect();
    let expected = OUTSIDE.iter().flat_map(|fault| BACKENDS.map(|backend| (*fault, backend)));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn each_row_has_a_proof_or_says_why_it_has_none() {
    let text = workspace::read(FAULTS).unwrap();
    let headings = CATALOGUE.iter().map(|(heading, ..)| *heading).chain(["Faults from outside"]);
    for row in headings.flat_map(|heading| rows(&text, heading)) {
        let last = row[row.len() - 1];
        assert!(proofs(last).next().is_some() || last.contains(NOT_SHOWN), "{row:?}");
    }
}

#[test]
fn a_missing_proof_is_reported() {
    let there = "`tokens::T-4::live_tokens_do_not_expire`, `xtask/src/proofs.rs::missing`";
    assert_eq!(missing(there).unwrap(), Vec::<&str>::new());
    let none = ["tokens::T-4::tokens_expire", "xtask/src/proofs.rs::none"];
    assert_eq!(missing(&format!("`{}` of `Type::function`, `{}`", none[0], none[1])).unwrap(), none);
}

#[test]
fn only_the_table_rows_of_one_section_are_returned() {
    let text = "\n## One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Two\n\n| a |\n|---|\n| 3 |\n";
    assert_eq!(rows(text, "One"), [["1", "2"]]);
    assert_eq!(rows(text, "Two"), [["3"]]);
}
