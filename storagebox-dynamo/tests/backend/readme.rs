//! The README agrees with the code, word for word where it repeats the code.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use storagebox_core::{Backend as _, Key, OrderedOptions, OrderedStore as _, Payload, Result, Stamp, WriterId};
use storagebox_dynamo::DynamoStore;

use crate::metered::Metered;
use crate::scene::with_place;
use crate::workload::builder;

pub(crate) fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the text from the heading to the next heading of the same level.
pub(crate) fn section<'a>(readme: &'a str, heading: &str) -> &'a str {
    let (_, rest) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// Returns the first code block of this language.
pub(crate) fn block<'a>(text: &'a str, language: &str) -> &'a str {
    between(text, &format!("```{language}\n"), "```")
}

pub(crate) fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}

/// Compares the README's table between the marks with `table`. Writes `table` into the README if
/// `STORAGEBOX_WRITE_COSTS` is set.
#[track_caller]
pub(crate) fn compared(begin: &str, end: &str, table: &str) {
    let readme = read("README.md");
    let found = between(&readme, begin, end);
    if env::var_os("STORAGEBOX_WRITE_COSTS").is_some() {
        let fresh = readme.replace(&format!("{begin}{found}{end}"), &format!("{begin}{table}{end}"));
        fs::write(path("README.md"), fresh).unwrap();
    } else {
        assert_eq!(found, table, "the README is stale");
    }
}

/// Returns the words in backticks at the beginnings of the rows of a table.
fn named(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split(" |").next().unwrap().split(", ")).map(|name| name.trim_matches('`')).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

#[test]
fn every_query_key_is_in_the_readme() {
    let (readme, code) = (read("README.md"), read("src/config/url.rs"));
    let ours = between(&code, "match key {", "_ => return Err");
    let known = ours.lines().filter_map(|arm| quoted(arm.split(" => ").next()?).next());
    assert_eq!(named(section(&readme, "The URL")), known.collect());
}

/// Returns the rows that the README must have for the error codes of a table in the source.
fn rows_of(code: &str, table: &str) -> Vec<String> {
    let table = between(code, table, "\n];");
    let known: Vec<_> = table.split("ErrorKind::").collect();
    let row = |pair: &[&str]| {
        let code = quoted(pair[0]).last().unwrap();
        format!("| `{code}` | `{}` |", pair[1].split(',').next().unwrap())
    };
    known.windows(2).map(row).collect()
}

#[test]
fn every_error_code_is_in_the_readme_with_its_kind() {
    let (readme, code) = (read("README.md"), read("src/error/codes.rs"));
    let listed: Vec<_> = section(&readme, "Errors").lines().filter(|line| line.starts_with("| `")).collect();
    let mut known = rows_of(&code, "const CODES: &[Code]");
    known.push("| `ConditionalCheckFailed` | an answer |".to_owned());
    known.extend(rows_of(&code, "const REASONS: &[Code]"));
    assert!(known.len() > 20, "{known:?}");
    for (listed, known) in listed.iter().zip(&known) {
        assert!(listed.starts_with(known.as_str()), "{listed} is {known}");
    }
    assert_eq!(listed.len(), known.len());
}

/// Returns the kind of the namespace of a partition key, and the text that names the kind of its rows.
fn kind_of(partition: &str) -> Option<(String, String)> {
    let (kind, rest) = partition.split_once(':')?;
    let (length, rest) = rest.split_once(':')?;
    let part = rest.get(length.parse::<usize>().ok()?..)?.strip_prefix(':')?;
    Some((kind.to_owned(), part.split(':').next()?.to_owned()))
}

#[test]
fn every_kind_of_row_is_in_the_readme() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, builder(place)).await?;
        metered.every_call(place).await?;
        let ordered = metered.store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
        let stamp = Stamp::new(9, WriterId::new("ada")?);
        let _ = ordered.put(&Key::new("key")?, &Payload::try_from("value")?, &stamp).await?;
        let rows = place.rows().await?;
        let partitions = rows.iter().filter_map(|row| row["pk"].as_s().ok()?.strip_prefix(&place.prefix));
        let made: BTreeSet<_> = partitions.filter_map(kind_of).filter(|(_, part)| part != "namespace").collect();
        let readme = read("README.md");
        let listed = named(between(&readme, "| rows | one for each |", "\n\n"));
        let listed = listed.into_iter().filter(|row| !row.starts_with('{'));
        let listed = listed.map(|row| kind_of(&row.replace('…', "0:")).unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), made);
        Ok(())
    })
}

/// The table in the code lists the attributes that every row may have.
#[test]
fn every_common_attribute_is_in_the_readme() {
    let (readme, code) = (read("README.md"), read("src/schema.rs"));
    let common = code.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let common: BTreeSet<_> =
        common.flat_map(|row| row.split(" |").next().unwrap().split(", ")).map(|name| name.trim_matches('`')).collect();
    let listed = named(between(&readme, "| attribute | holds |", "The other attributes"));
    assert!(common.len() > 5 && listed.is_superset(&common), "{common:?} {listed:?}");
}

#[test]
fn the_limits_of_the_promises_are_in_the_readme() {
    let readme = read("README.md").to_lowercase();
    let store = DynamoStore::connect("dynamodb://eu-west-1/namespace").unwrap();
    for (about, words) in [
        ("clock", "max_skew"),
        ("regions", "last writer"),
        ("counters", "several"),
        ("request tokens", "ten minutes"),
        ("throughput", "1,000 write units"),
        ("remember", "ended claims, gone tokens and ended operations"),
    ] {
        let promise = store.promises().entries.into_iter().find(|promise| promise.about == about);
        let statement = promise.unwrap_or_else(|| panic!("nothing about {about}")).statement.to_lowercase();
        assert!(statement.contains(words) && readme.contains(words), "{about}: {statement}");
    }
}
