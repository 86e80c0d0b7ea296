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

/// The items of the first call are in the bank although the second call was refused.
#[test]
fn a_refusal_after_an_applied_call_is_a_doubt_and_that_of_the_first_call_is_certain() {
    let store = Database::ready();
    store.denies("storagebox.bank_take, storagebox.bank_take_many");
    let place = store.place();
    place.write("items.csv", "A\n");
    place.write("ids.csv", "ada\n");
    for (args, certainty, is_said) in [
        (&["bank", "take", "b", "ada"][..], "NotApplied", false),
        (&["hand-out", "b", "--items", "items.csv", "--ids", "ids.csv", "--out", "given.csv"], "Unknown", true),
    ] {
        let ended = place.run(&[args, &["--json"]].concat()).exits(3);
        let told: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
        assert_eq!((&told["kind"], &told["certainty"]), (&"Denied".into(), &certainty.into()), "{told}");
        let help = told["help"].as_str().unwrap();
        assert!(help.contains("check the user and the password"), "{help}");
        assert_eq!(help.contains("it may have taken effect: run the same command again"), is_said, "{help}");
        assert!(told["cause"].as_str().unwrap().contains("permission denied for function"), "{told}");
    }
}
