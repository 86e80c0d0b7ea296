//! `bank ...`: every command, for people and for programs.

use serde_json::{Value, json};

use super::database::Database;
use crate::support::Place;

struct Bank {
    place: Place,
    /// Goes last, when nobody uses it any more.
    database: Database,
}

impl Bank {
    fn with(items: &str) -> Self {
        let database = Database::ready();
        let place = database.place();
        place.write("items.csv", items);
        place.run(&["bank", "load", "--bank", "b", "items.csv"]).exits(0);
        Self { place, database }
    }

    /// What a command says to people.
    #[track_caller]
    fn says(&self, args: &[&str], code: i32) -> String {
        let (command, rest) = args.split_first().unwrap();
        self.place.run(&[&["bank", command, "--bank", "b"], rest].concat()).exits(code).stdout
    }

    /// What a command says to programs.
    #[track_caller]
    fn answers(&self, args: &[&str], code: i32) -> Value {
        serde_json::from_str(&self.says(&[args, &["--json"]].concat(), code)).unwrap()
    }
}

#[test]
fn an_item_is_taken_confirmed_and_found() {
    let bank = Bank::with("A\n");
    let taken = bank.answers(&["take", "ada", "--for", "15m"], 0);
    assert_eq!(
        (&taken["outcome"], &taken["item"], &taken["hold"]),
        (&json!("new"), &json!("A"), &json!("timed"))
    );
    assert!((1..=900_000).contains(&taken["remaining_ms"].as_u64().unwrap()), "{taken}");
    assert_eq!(bank.answers(&["take", "ada"], 0)["outcome"], "again");
    assert_eq!(bank.says(&["take", "bob"], 1), "bank    b\nid      bob\noutcome empty\n");
    assert_eq!(bank.says(&["confirm", "ada"], 0), "bank    b\nid      ada\noutcome confirmed\nitem    A\n");
    assert_eq!(
        bank.answers(&["show", "ada"], 0),
        json!({ "bank": "b", "id": "ada", "outcome": "held", "item": "A", "hold": "confirmed" })
    );
    let found = json!({ "bank": "b", "item": "A", "state": "spent", "id": "ada" });
    assert_eq!(bank.answers(&["holder", "A"], 0), found);
    assert_eq!(bank.says(&["holder", "Z"], 1), "bank  b\nitem  Z\nstate unknown\n");
    assert_eq!(bank.says(&["release", "ada"], 1), "bank    b\nid      ada\noutcome confirmed\n");
}

#[test]
fn a_released_item_is_free_and_its_claim_is_over() {
    let bank = Bank::with("A\n");
    bank.says(&["take", "ada"], 0);
    assert_eq!(bank.answers(&["release", "ada"], 0)["outcome"], "released");
    let ended = json!({ "bank": "b", "id": "ada", "outcome": "ended", "why": "released" });
    assert_eq!(bank.answers(&["take", "ada"], 1), ended);
    assert_eq!(bank.answers(&["confirm", "ada"], 1), ended);
    assert_eq!(bank.says(&["show", "ada"], 1), "bank    b\nid      ada\noutcome ended\nwhy     released\n");
    assert_eq!(bank.answers(&["take", "bob"], 0)["item"], "A");
}

#[test]
fn counts_list_and_audit_agree() {
    let bank = Bank::with("A\nB\nC\n");
    bank.says(&["take", "ada"], 0);
    bank.says(&["confirm", "ada"], 0);
    bank.says(&["take", "bob"], 0);
    let counts = json!({ "bank": "b", "free": 1, "held": 1, "spent": 1, "withdrawn": 0, "total": 3 });
    assert_eq!(bank.answers(&["counts"], 0), counts);
    assert!(bank.says(&["counts"], 0).ends_with("total     3\n"));
    let audit = bank.answers(&["audit"], 0);
    assert_eq!(
        (&audit["audit"], &audit["claims_checked"], &audit["counts_checked"]),
        (&json!("ok"), &json!(2), &json!(true))
    );
    assert!(bank.says(&["audit"], 0).ends_with("audit          ok\n"));
    let listed = bank.says(&["list"], 0);
    assert_eq!(listed.lines().next(), Some("item,state,id"));
    let mut rows: Vec<_> = listed.lines().skip(1).map(|row| row.split_once(',').unwrap().1).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["free,", "held,bob", "spent,ada"]);
    let mut states: Vec<_> = bank.says(&["list", "--json"], 0).lines().map(state).collect();
    states.sort_unstable();
    assert_eq!(states, ["free", "held", "spent"]);
    assert_eq!(bank.says(&["list", "--limit", "2", "--json"], 0).lines().count(), 2);
}

fn state(line: &str) -> String {
    let listed: Value = serde_json::from_str(line).unwrap();
    listed["state"].as_str().unwrap().to_owned()
}

/// What other programs changed behind the library's back is found.
#[test]
fn an_item_that_is_lost_or_held_twice_fails_the_audit() {
    let bank = Bank::with("A\nB\n");
    bank.says(&["take", "ada"], 0);
    bank.database.tamper("INSERT INTO storagebox.free_items SELECT bank, h, item FROM storagebox.claims");
    let ended = bank.place.run(&["bank", "audit", "--bank", "b", "--json"]).exits(3);
    assert_eq!(ended.json()["audit"], "FAILED");
    assert!(ended.stderr.starts_with("error: the audit of the bank failed: "), "{}", ended.stderr);
}

#[test]
fn odd_text_comes_back_byte_for_byte() {
    let odd = "'; DROP TABLE x; -- $1 \\ \"é\" e\u{301} 🎁";
    let bank = Bank::with(&format!("\"{}\"\n", odd.replace('"', "\"\"")));
    assert_eq!(bank.answers(&["take", odd], 0)["item"], odd);
    assert_eq!(bank.answers(&["holder", odd], 0)["id"], odd);
}

/// Through a pipe, so that its size is not known and nobody watches.
#[test]
fn a_load_through_a_pipe_is_counted_and_can_be_repeated() {
    let bank = Bank::with("");
    let items: String = (0..12_345).map(|n| format!("CODE-{n}\n")).collect();
    for (added, already_there) in [(12_345, 0), (0, 12_345)] {
        let load = ["bank", "load", "--bank", "b", "-"];
        let ended = bank.place.run_with_input(&load, items.as_bytes()).exits(0);
        assert_eq!([ended.figure("items added"), ended.figure("already there")], [added, already_there]);
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(bank.answers(&["counts"], 0)["free"], 12_345);
}
