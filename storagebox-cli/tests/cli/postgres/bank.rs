//! `bank audit` on a database that other programs changed.

use super::Database;
use crate::stores::Store;
use crate::till::Bank;

/// The audit finds changes that bypass the library.
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
