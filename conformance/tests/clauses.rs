//! The generated table of clauses is up to date, every clause has a case, and every case belongs to a clause.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use storagebox_conformance::{CLAUSES, Case, cases, decisions, table};

#[test]
fn the_table_of_clauses_is_up_to_date() {
    assert!(table() == include_str!("../CLAUSES.md"), "CLAUSES.md is stale: run `cargo xtask clauses`");
}

#[test]
fn the_document_of_decisions_is_up_to_date() {
    assert!(decisions() == include_str!("../../docs/DECISIONS.md"), "DECISIONS.md is stale: run `cargo xtask clauses`");
}

#[test]
fn every_clause_has_a_case() {
    let cases = cases();
    let bare: Vec<_> =
        CLAUSES.iter().map(|clause| clause.id).filter(|id| !cases.iter().any(|case| case.clause() == *id)).collect();
    assert!(bare.is_empty(), "clauses without a case: {bare:?}");
}

#[test]
fn every_case_has_a_known_clause_and_a_unique_name() {
    let mut names: Vec<_> = cases().iter().map(|case| case.name()).collect();
    let stray: Vec<_> =
        cases().into_iter().filter(|case| !CLAUSES.iter().any(|clause| clause.id == case.clause())).collect();
    assert!(stray.is_empty(), "cases of unknown clauses: {stray:?}");
    names.sort();
    let total = names.len();
    names.dedup();
    assert_eq!(names.len(), total, "two cases share a name");
}

/// A case that needs each answer is ignored if the harness loses answers. Only the clauses listed in this test may have
/// such cases.
#[test]
fn cases_that_need_each_answer_belong_to_the_expected_clauses() {
    let excused: Vec<_> = cases().into_iter().filter(Case::needs_each_answer).collect();
    let of = |clause: &str| excused.iter().filter(|case| case.clause() == clause).count();
    assert_eq!(excused.len(), 55, "{excused:?}");
    assert_eq!((of("C-1"), of("O-1")), (5, 1), "{excused:?}");
    let may_be = |case: &Case| {
        case.clause().starts_with("C-")
            || ["D-6", "D-7", "ER-5", "IB-7", "O-1", "O-2", "OT-3", "S-4", "S-5", "T-7"].contains(&case.clause())
    };
    assert!(excused.iter().all(may_be), "{excused:?}");
}

/// The clauses of the facade and of the processor, which tests outside this suite cover.
const ELSEWHERE: [&str; 3] = ["S-6", "S-7", "P-5"];

#[test]
fn contract_and_table_have_the_same_clauses() {
    let contract = include_str!("../../docs/CONTRACT.md");
    for clause in CLAUSES {
        let (part, number) = clause.id.split_once('-').unwrap();
        let bold = format!("**{part}-{}**", number.trim_start_matches('0'));
        assert!(contract.contains(&bold), "{bold} is not in docs/CONTRACT.md");
    }
    let bold: Vec<_> = contract.split("**").filter(|text| is_clause_id(text)).collect();
    let elsewhere = bold.iter().filter(|id| ELSEWHERE.iter().any(|part| id.starts_with(part))).count();
    assert_eq!(bold.len(), CLAUSES.len() + elsewhere, "clauses of the contract");
}

fn is_clause_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(part, number)| {
        part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_uppercase()) && number.parse::<u8>().is_ok()
    })
}
