//! `bank ...` on a database.

use super::database::Database;
use crate::till::{Bank, quoted};

#[test]
fn an_item_is_taken_confirmed_and_found() {
    let store = Database::ready();
    Bank::with(store.place(), "A\n").gives_it_away();
}

#[test]
fn a_released_item_is_free_and_its_claim_is_over() {
    let store = Database::ready();
    Bank::with(store.place(), "A\n").gets_it_back();
}

#[test]
fn counts_list_and_audit_agree() {
    let store = Database::ready();
    Bank::with(store.place(), "A\nB\nC\n").is_audited();
}

/// What other programs changed behind the library's back is found.
#[test]
fn an_item_that_is_lost_or_held_twice_fails_the_audit() {
    let store = Database::ready();
    let bank = Bank::with(store.place(), "A\nB\n");
    bank.says(&["take", "ada"], 0);
    store.tamper("INSERT INTO storagebox.free_items SELECT bank, h, item FROM storagebox.claims");
    let ended = bank.place.run(&["bank", "audit", "b", "--json"]).exits(3);
    assert_eq!(ended.json()["audit"], "FAILED");
    assert!(ended.stderr.starts_with("{\"error\":\"the audit of the bank failed: "), "{}", ended.stderr);
}

#[test]
fn what_was_given_up_is_reclaimed() {
    let store = Database::ready();
    Bank::with(store.place(), "A\nB\nC\n").is_reclaimed();
}

#[test]
fn odd_text_comes_back_byte_for_byte() {
    let store = Database::ready();
    let odd = "'; DROP TABLE x; -- $1 \\ \"é\" e\u{301} 🎁";
    Bank::with(store.place(), &quoted(odd)).keeps(odd);
}

#[test]
fn a_load_through_a_pipe_is_counted_and_can_be_repeated() {
    let store = Database::ready();
    Bank::with(store.place(), "").is_loaded_twice(12_345);
}
