//! The docs keep one order: summary, guarantees, cancel safety, errors, backend notes, example.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::fs;
use std::path::Path;

const ORDER: [&str; 5] = ["# Guarantees", "# Cancel safety", "# Errors", "# Backend notes", "# Example"];

/// The files of the traits that backends implement.
const TRAITS: [&str; 7] =
    ["item_bank", "dedup_repo", "lease_repo", "token_store", "counter", "ordered_store", "backend"];

/// The doc comments of a file with the line that follows each.
fn documented(text: &str) -> Vec<(Vec<&str>, &str)> {
    let mut items = Vec::new();
    let mut docs = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("///") {
            Some(doc) => docs.push(doc.trim()),
            None if line.starts_with("#[") => {}
            None if docs.is_empty() => {}
            None => items.push((std::mem::take(&mut docs), line)),
        }
    }
    items
}

fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn headings_stand_in_one_order() {
    for (file, text) in sources() {
        for (docs, item) in documented(&text) {
            let found: Vec<_> = docs.iter().filter_map(|line| ORDER.iter().position(|known| known == line)).collect();
            assert!(found.is_sorted(), "{file}: the headings of `{item}` are out of order");
            let stray = docs.iter().find(|line| line.starts_with("# ") && !ORDER.contains(line) && !is_code(line));
            assert!(stray.is_none(), "{file}: `{item}` has a heading of its own: {stray:?}");
        }
    }
}

/// A hidden line of an example looks like a heading.
fn is_code(line: &str) -> bool {
    line.starts_with("# #") || line.starts_with("# Ok(")
}

#[test]
fn every_async_method_says_what_it_guarantees_and_how_it_is_cancelled() {
    let mut seen = 0;
    for (file, text) in sources() {
        for (docs, item) in documented(&text) {
            let is_trait = TRAITS.iter().any(|name| file.ends_with(&format!("/{name}.rs")));
            if !(item.starts_with("pub async fn") || is_trait && item.starts_with("async fn")) {
                continue;
            }
            seen += 1;
            for heading in ["# Guarantees", "# Cancel safety", "# Errors"] {
                assert!(docs.contains(&heading), "{file}: `{item}` has no {heading}");
            }
        }
    }
    assert!(seen > 35, "only {seen} documented async methods were found");
}

#[test]
fn every_trait_has_a_running_example() {
    for name in TRAITS {
        let (_, text) = sources().into_iter().find(|(file, _)| file.ends_with(&format!("/{name}.rs"))).unwrap();
        assert!(text.contains("/// # Example"), "{name}.rs has no example");
        assert!(!text.contains("```ignore") && !text.contains("```no_run"), "{name}.rs has an example that is not run");
    }
}
