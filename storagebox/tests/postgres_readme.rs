//! The README of the Postgres backend agrees with the code, word for word where it repeats the code.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storagebox-postgres").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn section<'a>(readme: &'a str, heading: &str) -> &'a str {
    let (_, rest) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// Returns the word in backticks at the beginning of each row of a table.
fn named(section: &str) -> Vec<&str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split(" |").next().unwrap().split(", ")).map(|name| name.trim_matches('`')).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn readme_shows_the_privileges_of_grants_sql() {
    let readme = read("README.md");
    let shown = between(section(&readme, "Privileges"), "```sql\n", "```");
    assert_eq!(shown, read("sql/grants.sql"));
}

#[test]
fn readme_shows_the_statements_of_new_epoch_sql() {
    let readme = read("README.md");
    let shown = between(section(&readme, "Durability and failover"), "```sql\n", "```");
    assert_eq!(shown, read("sql/new_epoch.sql"));
}

#[test]
fn readme_lists_every_table() {
    let readme = read("README.md");
    let migration = read("sql/migrations/1.sql");
    let made = migration.split("CREATE TABLE {schema}.").skip(1);
    let made = made.map(|table| table.split_whitespace().next().unwrap());
    let listed: BTreeSet<_> = named(section(&readme, "The schema")).into_iter().collect();
    assert_eq!(listed, made.chain(["store", "versions"]).collect());
}

/// Returns the query keys of other PostgreSQL clients for which the URL accepts at least one value.
fn foreign(code: &str) -> impl Iterator<Item = &str> {
    let rows = between(code, "const KEYS", "\n];").split("\n    (").skip(1);
    rows.filter(|row| !row.contains("&[],")).filter_map(|row| quoted(row).next())
}

#[test]
fn readme_lists_every_query_key() {
    let (readme, code, others) = (read("README.md"), read("src/config/url.rs"), read("src/config/foreign.rs"));
    let known = ["const DRIVERS", "const OURS"].map(|table| between(&code, table, "];"));
    let known = known.into_iter().flat_map(quoted).chain(foreign(&others));
    let listed: BTreeSet<_> = named(section(&readme, "The URL")).into_iter().collect();
    assert_eq!(listed, known.collect());
}

/// Returns the codes in backticks of each row of a table, with the kind in the next column.
fn listed_codes(errors: &str) -> BTreeSet<(&str, &str)> {
    let rows = errors.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.map(|row| (row, row.split(" | `").nth(1).and_then(|kind| kind.split('`').next()).unwrap()));
    rows.flat_map(|(row, kind)| named(row).into_iter().map(move |code| (code, kind))).collect()
}

#[test]
fn readme_lists_every_error_code_with_its_kind() {
    let (readme, code) = (read("README.md"), read("src/error/codes.rs"));
    let known: Vec<_> = between(&code, "const CODES", "\n];").split("ErrorKind::").collect();
    let kind = |behind: &'_ str| behind.split(',').next().unwrap().to_owned();
    let known = known.windows(2).map(|pair| (quoted(pair[0]).last().unwrap(), kind(pair[1])));
    let known: BTreeSet<_> = known.collect();
    assert!(known.len() > 10, "{known:?}");
    let listed = listed_codes(section(&readme, "Errors"));
    assert_eq!(listed, known.iter().map(|(code, kind)| (*code, kind.as_str())).collect());
}
