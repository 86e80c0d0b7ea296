//! `dedup`, `token`, `counter` and `ordered` on a DynamoDB table.

use super::table::Table;
use crate::doubt::Doubt;
use crate::namespaces::Namespaces;

#[test]
fn records_are_remembered() {
    let store = Table::ready();
    Namespaces(store.place()).remember_records();
}

#[test]
fn tokens_are_consumed_once() {
    let store = Table::ready();
    Namespaces(store.place()).consume_tokens();
}

#[test]
fn operations_are_counted_once() {
    let store = Table::ready();
    Namespaces(store.place()).count_operations();
}

#[test]
fn a_ledger_is_listed_and_merged() {
    let store = Table::ready();
    Namespaces(store.place()).list_and_merge_a_ledger();
}

#[test]
fn the_newest_value_is_kept() {
    let store = Table::ready();
    Namespaces(store.place()).keep_the_newest_value();
}

#[test]
fn visitors_see_what_is_promised() {
    let store = Table::ready();
    Namespaces(store.place()).are_shown_to_visitors();
}

#[test]
fn a_change_in_doubt_is_told_and_not_repeated() {
    let store = Table::ready();
    let doubt = Doubt::before(store.address());
    let (far, near) = (store.place_by(doubt.address()), store.place());
    doubt.is_told_and_not_repeated(&far, &near, &["atomic", "optimistic", "history:2"]);
}
