//! `bank ...` on a Redis server: every command, for people and for programs.

use serde_json::{Value, json};

use super::keys::Keys;
use crate::support::Place;

struct Bank {
    place: Place,
    /// Goes last, when nobody uses it any more.
    _keys: Keys,
}

impl Bank {
    fn with(items: &str) -> Self {
        let keys = Keys::ready();
        let place = keys.place();
        place.write("items.csv", items);
        place.run(&["bank", "load", "--bank", "b", "items.csv"]).exits(0);
        Self { place, _keys: keys }
    }

    /// What a command says to programs.
    #[track_caller]
    fn answers(&self, args: &[&str], code: i32) -> Value {
        let (command, rest) = args.split_first().unwrap();
        self.place.run(&[&["bank", command, "--bank", "b", "--json"], rest].concat()).exits(code).json()
    }
}

#[test]
fn an_item_is_taken_confirmed_and_found() {
    let bank = Bank::with("A\n");
    let taken = bank.answers(&["take", "ada", "--for", "15m"], 0);
    let told = (&taken["outcome"], &taken["item"], &taken["hold"]);
    assert_eq!(told, (&json!("new"), &json!("A"), &json!("timed")));
    assert!((1..=900_000).contains(&taken["remaining_ms"].as_u64().unwrap()), "{taken}");
    assert_eq!(bank.answers(&["take", "ada"], 0)["outcome"], "again");
    assert_eq!(bank.answers(&["take", "bob"], 1)["outcome"], "empty");
    assert_eq!(bank.answers(&["confirm", "ada"], 0)["outcome"], "confirmed");
    assert_eq!(
        bank.answers(&["show", "ada"], 0),
        json!({ "bank": "b", "id": "ada", "outcome": "held", "item": "A", "hold": "confirmed" })
    );
    let found = json!({ "bank": "b", "item": "A", "state": "spent", "id": "ada" });
    assert_eq!(bank.answers(&["holder", "A"], 0), found);
    assert_eq!(bank.answers(&["release", "ada"], 1)["outcome"], "confirmed");
}

#[test]
fn a_released_item_is_free_and_its_claim_is_over() {
    let bank = Bank::with("A\n");
    bank.answers(&["take", "ada"], 0);
    assert_eq!(bank.answers(&["release", "ada"], 0)["outcome"], "released");
    let ended = json!({ "bank": "b", "id": "ada", "outcome": "ended", "why": "released" });
    assert_eq!(bank.answers(&["take", "ada"], 1), ended);
    assert_eq!(bank.answers(&["take", "bob"], 0)["item"], "A");
}

#[test]
fn counts_list_and_audit_agree() {
    let bank = Bank::with("A\nB\nC\n");
    bank.answers(&["take", "ada"], 0);
    bank.answers(&["confirm", "ada"], 0);
    bank.answers(&["take", "bob"], 0);
    let counts = json!({ "bank": "b", "free": 1, "held": 1, "spent": 1, "withdrawn": 0, "total": 3 });
    assert_eq!(bank.answers(&["counts"], 0), counts);
    let audit = bank.answers(&["audit"], 0);
    let told = (&audit["audit"], &audit["claims_checked"], &audit["counts_checked"]);
    assert_eq!(told, (&json!("ok"), &json!(2), &json!(true)));
    let listed = bank.place.run(&["bank", "list", "--bank", "b"]).exits(0).stdout;
    let mut rows: Vec<_> = listed.lines().skip(1).map(|row| row.split_once(',').unwrap().1).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["free,", "held,bob", "spent,ada"]);
}

#[test]
fn odd_text_comes_back_byte_for_byte() {
    let odd = "}{*: $4 ') redis.call('FLUSHALL') -- \\ \"é\" e\u{301} 🎁";
    let bank = Bank::with(&format!("\"{}\"\n", odd.replace('"', "\"\"")));
    assert_eq!(bank.answers(&["take", odd], 0)["item"], odd);
    assert_eq!(bank.answers(&["holder", odd], 0)["id"], odd);
}

/// Through a pipe, so that its size is not known and nobody watches.
#[test]
fn a_load_through_a_pipe_is_counted_and_can_be_repeated() {
    let bank = Bank::with("");
    let items: String = (0..2_345).map(|n| format!("CODE-{n}\n")).collect();
    for (added, already_there) in [(2_345, 0), (0, 2_345)] {
        let load = ["bank", "load", "--bank", "b", "-"];
        let ended = bank.place.run_with_input(&load, items.as_bytes()).exits(0);
        assert_eq!([ended.figure("items added"), ended.figure("already there")], [added, already_there]);
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(bank.answers(&["counts"], 0)["free"], 2_345);
}
