//! The table of what became of the articles' warnings: each proof that it names is there.

use std::collections::BTreeSet;

use crate::failure::Failure;
use crate::workspace;

const TABLE: &str = "docs/ARTICLES.md";
const CASES: &str = "conformance/CLAUSES.md";

/// The proofs that a text names and that are neither a case of the suite nor a test of their file.
fn missing(text: &str) -> Result<Vec<&str>, Failure> {
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

/// Cases and tests, and no function of the library.
fn proofs(text: &str) -> impl Iterator<Item = &str> {
    quoted(text)
        .filter(|text| text.rsplit_once("::").is_some_and(|(place, _)| place.contains("::") || place.ends_with(".rs")))
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_test(proof: &str) -> Result<bool, Failure> {
    let Some((path, name)) = proof.split_once(".rs::") else { return Ok(false) };
    Ok(workspace::read(format!("{path}.rs"))?.contains(&format!("fn {name}(")))
}

#[test]
fn each_proof_of_the_table_is_there() {
    let table = workspace::read(TABLE).unwrap();
    assert!(proofs(&table).count() > 100);
    assert_eq!(missing(&table).unwrap(), Vec::<&str>::new());
}

#[test]
fn a_proof_that_is_not_there_is_found() {
    let there = "`tokens::T-4::live_tokens_do_not_expire`, `xtask/src/articles.rs::missing`";
    assert_eq!(missing(there).unwrap(), Vec::<&str>::new());
    let none = ["tokens::T-4::tokens_expire", "xtask/src/articles.rs::none"];
    assert_eq!(missing(&format!("`{}` of `Type::function`, `{}`", none[0], none[1])).unwrap(), none);
}
