//! `dedup`, `token`, `counter` and `ordered` on a SQLite file.

use super::file::File;
use crate::namespaces::Namespaces;

#[test]
fn records_are_remembered() {
    let store = File::ready();
    Namespaces(store.place()).remember_records();
}

#[test]
fn tokens_are_consumed_once() {
    let store = File::ready();
    Namespaces(store.place()).consume_tokens();
}

#[test]
fn operations_are_counted_once() {
    let store = File::ready();
    Namespaces(store.place()).count_operations();
}

#[test]
fn a_strategy_that_is_not_there_names_another() {
    let store = File::ready();
    Namespaces(store.place()).name_another_strategy();
}

#[test]
fn the_newest_value_is_kept() {
    let store = File::ready();
    Namespaces(store.place()).keep_the_newest_value();
}

#[test]
fn visitors_see_what_is_promised() {
    let store = File::ready();
    Namespaces(store.place()).are_shown_to_visitors();
}
