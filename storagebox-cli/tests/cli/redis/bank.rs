//! `bank ...` on a Redis server.

use super::keys::Keys;
use crate::till::{Bank, quoted};

#[test]
fn an_item_is_taken_confirmed_and_found() {
    let store = Keys::ready();
    Bank::with(store.place(), "A\n").gives_it_away();
}

#[test]
fn a_released_item_is_free_and_its_claim_is_over() {
    let store = Keys::ready();
    Bank::with(store.place(), "A\n").gets_it_back();
}

#[test]
fn counts_list_and_audit_agree() {
    let store = Keys::ready();
    Bank::with(store.place(), "A\nB\nC\n").is_audited();
}

#[test]
fn what_was_given_up_is_reclaimed() {
    let store = Keys::ready();
    Bank::with(store.place(), "A\nB\nC\n").is_reclaimed();
}

#[test]
fn odd_text_comes_back_byte_for_byte() {
    let store = Keys::ready();
    let odd = "}{*: $4 ') redis.call('FLUSHALL') -- \\ \"é\" e\u{301} 🎁";
    Bank::with(store.place(), &quoted(odd)).keeps(odd);
}

#[test]
fn a_load_through_a_pipe_is_counted_and_can_be_repeated() {
    let store = Keys::ready();
    Bank::with(store.place(), "").is_loaded_twice(12_345);
}
