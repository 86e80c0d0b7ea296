//! `dedup`, `token`, `counter` and `ordered` on a Redis server.

use super::keys::Keys;
use crate::doubt::Doubt;
use crate::namespaces::Namespaces;

#[test]
fn records_are_remembered() {
    let store = Keys::ready();
    Namespaces(store.place()).remember_records();
}

#[test]
fn tokens_are_consumed_once() {
    let store = Keys::ready();
    Namespaces(store.place()).consume_tokens();
}

#[test]
fn operations_are_counted_once() {
    let store = Keys::ready();
    Namespaces(store.place()).count_operations();
}

#[test]
fn a_strategy_that_is_not_there_names_another() {
    let store = Keys::ready();
    Namespaces(store.place()).name_another_strategy();
}

#[test]
fn the_newest_value_is_kept() {
    let store = Keys::ready();
    Namespaces(store.place()).keep_the_newest_value();
}

#[test]
fn visitors_see_what_is_promised() {
    let store = Keys::ready();
    Namespaces(store.place()).are_shown_to_visitors();
}

#[test]
fn a_change_in_doubt_is_told_and_not_repeated() {
    let store = Keys::ready();
    let doubt = Doubt::before(store.address());
    doubt.is_told_and_not_repeated(&store.place_by(doubt.address()), &store.place(), &["atomic"]);
}
