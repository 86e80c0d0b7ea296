//! `bank ...` on persistent stores: every command, for people and for programs.

use serde_json::{Value, json};

use crate::stores::{Store, tests_on};
use crate::support::Place;

tests_on! {
    [dynamo postgres redis sqlite]:
        an_item_is_taken_confirmed_and_found,
        a_released_item_is_free_and_its_claim_has_ended,
        counts_list_and_audit_agree,
        reclaim_releases_claims_and_keeps_spent_items,
        odd_text_comes_back_byte_for_byte,
        a_load_through_a_pipe_is_counted_and_can_be_repeated;
}

/// The bank `b` in the store of a [`Place`].
pub(crate) struct Bank {
    pub(crate) place: Place,
}

impl Bank {
    pub(crate) fn with(place: Place, items: &str) -> Self {
        place.write("items.csv", items);
        place.run(&["bank", "load", "b", "items.csv"]).exits(0);
        Self { place }
    }

    /// Runs a command, and returns its output for people.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str], code: i32) -> String {
        let (command, rest) = args.split_first().unwrap();
        self.place.run(&[&["bank", command, "b"], rest].concat()).exits(code).stdout
    }

    /// Runs a command, and returns its answer for programs.
    #[track_caller]
    pub(crate) fn answers(&self, args: &[&str], code: i32) -> Value {
        serde_json::from_str(&self.says(&[args, &["--json"]].concat(), code)).unwrap()
    }
}

fn an_item_is_taken_confirmed_and_found<S: Store>() {
    let store = S::ready();
    let bank = Bank::with(store.place(), "A\n");
    let taken = bank.answers(&["take", "ada", "--for", "15m"], 0);
    assert_eq!((&taken["outcome"], &taken["item"], &taken["hold"]), (&json!("new"), &json!("A"), &json!("timed")));
    assert!((1..=900_000).contains(&taken["remaining_ms"].as_u64().unwrap()), "{taken}");
    assert_eq!(bank.answers(&["take", "ada"], 0)["outcome"], "again");
    assert_eq!(bank.says(&["take", "bob"], 1), "namespace b\nid        bob\noutcome   empty\n");
    assert_eq!(bank.says(&["confirm", "ada"], 0), "namespace b\nid        ada\noutcome   confirmed\nitem      A\n");
    assert_eq!(
        bank.answers(&["show", "ada"], 0),
        json!({ "namespace": "b", "id": "ada", "outcome": "held", "item": "A", "hold": "confirmed" })
    );
    let found = json!({ "namespace": "b", "item": "A", "state": "spent", "id": "ada" });
    assert_eq!(bank.answers(&["holder", "A"], 0), found);
    assert_eq!(bank.says(&["holder", "Z"], 1), "namespace b\nitem      Z\nstate     unknown\n");
    assert_eq!(bank.says(&["release", "ada"], 1), "namespace b\nid        ada\noutcome   confirmed\n");
}

fn a_released_item_is_free_and_its_claim_has_ended<S: Store>() {
    let store = S::ready();
    let bank = Bank::with(store.place(), "A\n");
    bank.says(&["take", "ada"], 0);
    assert_eq!(bank.answers(&["release", "ada"], 0)["outcome"], "released");
    let ended = json!({ "namespace": "b", "id": "ada", "outcome": "ended", "why": "released" });
    assert_eq!(bank.answers(&["take", "ada"], 1), ended);
    assert_eq!(bank.answers(&["confirm", "ada"], 1), ended);
    assert_eq!(bank.says(&["show", "ada"], 1), "namespace b\nid        ada\noutcome   ended\nwhy       released\n");
    assert_eq!(bank.answers(&["take", "bob"], 0)["item"], "A");
}

fn counts_list_and_audit_agree<S: Store>() {
    let store = S::ready();
    let bank = Bank::with(store.place(), "A\nB\nC\n");
    bank.says(&["take", "ada"], 0);
    bank.says(&["confirm", "ada"], 0);
    bank.says(&["take", "bob"], 0);
    let counts = json!({ "namespace": "b", "free": 1, "held": 1, "spent": 1, "withdrawn": 0, "total": 3 });
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

/// The claims of ids from a pipe are released, and spent items stay spent.
fn reclaim_releases_claims_and_keeps_spent_items<S: Store>() {
    let store = S::ready();
    let bank = Bank::with(store.place(), "A\nB\nC\n");
    for id in ["ada", "bob", "eve"] {
        bank.says(&["take", id], 0);
    }
    bank.says(&["confirm", "eve"], 0);
    let reclaim = ["bank", "reclaim", "b", "-", "--json"];
    let answer = bank.place.run_with_input(&reclaim, b"ada\nbob\neve\n").exits(1).json();
    assert_eq!([&answer["released"], &answer["confirmed"]], [2, 1]);
    let counts = bank.answers(&["counts"], 0);
    assert_eq!([&counts["free"], &counts["spent"]], [2, 1]);
    assert_eq!(bank.answers(&["take", "ada"], 1)["outcome"], "ended");
}

/// The item and the id have the same odd text.
fn odd_text_comes_back_byte_for_byte<S: Store>() {
    let odd = S::ODD;
    let store = S::ready();
    let bank = Bank::with(store.place(), &quoted(odd));
    assert_eq!(bank.answers(&["take", odd], 0)["item"], odd);
    assert_eq!(bank.answers(&["holder", odd], 0)["id"], odd);
}

/// The bytes come from a pipe, whose size is unknown. There is no terminal for a progress bar.
fn a_load_through_a_pipe_is_counted_and_can_be_repeated<S: Store>() {
    let count = S::LOAD;
    let store = S::ready();
    let bank = Bank { place: store.place() };
    let items: String = (0..count).map(|n| format!("CODE-{n}\n")).collect();
    for (added, already_there) in [(count, 0), (0, count)] {
        let load = ["bank", "load", "b", "-"];
        let ended = bank.place.run_with_input(&load, items.as_bytes()).exits(0);
        assert_eq!([ended.figure("items added"), ended.figure("already there")], [added, already_there]);
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(bank.answers(&["counts"], 0)["free"], count);
}

fn state(line: &str) -> String {
    let listed: Value = serde_json::from_str(line).unwrap();
    listed["state"].as_str().unwrap().to_owned()
}

pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"\n", text.replace('"', "\"\""))
}
