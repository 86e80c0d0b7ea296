//! `bank ...` on a store that lasts: every command, for people and for programs.

use serde_json::{Value, json};

use crate::support::Place;

/// A bank of a place.
pub(crate) struct Bank {
    pub(crate) place: Place,
}

impl Bank {
    pub(crate) fn with(place: Place, items: &str) -> Self {
        place.write("items.csv", items);
        place.run(&["bank", "load", "b", "items.csv"]).exits(0);
        Self { place }
    }

    /// What a command says to people.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str], code: i32) -> String {
        let (command, rest) = args.split_first().unwrap();
        self.place.run(&[&["bank", command, "b"], rest].concat()).exits(code).stdout
    }

    /// What a command says to programs.
    #[track_caller]
    pub(crate) fn answers(&self, args: &[&str], code: i32) -> Value {
        serde_json::from_str(&self.says(&[args, &["--json"]].concat(), code)).unwrap()
    }

    /// Of the one item A: it is taken, confirmed and found.
    pub(crate) fn gives_it_away(&self) {
        let taken = self.answers(&["take", "ada", "--for", "15m"], 0);
        assert_eq!((&taken["outcome"], &taken["item"], &taken["hold"]), (&json!("new"), &json!("A"), &json!("timed")));
        assert!((1..=900_000).contains(&taken["remaining_ms"].as_u64().unwrap()), "{taken}");
        assert_eq!(self.answers(&["take", "ada"], 0)["outcome"], "again");
        assert_eq!(self.says(&["take", "bob"], 1), "namespace b\nid        bob\noutcome   empty\n");
        assert_eq!(self.says(&["confirm", "ada"], 0), "namespace b\nid        ada\noutcome   confirmed\nitem      A\n");
        assert_eq!(
            self.answers(&["show", "ada"], 0),
            json!({ "namespace": "b", "id": "ada", "outcome": "held", "item": "A", "hold": "confirmed" })
        );
        let found = json!({ "namespace": "b", "item": "A", "state": "spent", "id": "ada" });
        assert_eq!(self.answers(&["holder", "A"], 0), found);
        assert_eq!(self.says(&["holder", "Z"], 1), "namespace b\nitem      Z\nstate     unknown\n");
        assert_eq!(self.says(&["release", "ada"], 1), "namespace b\nid        ada\noutcome   confirmed\n");
    }

    /// Of the one item A: it is given back, and its claim is over.
    pub(crate) fn gets_it_back(&self) {
        self.says(&["take", "ada"], 0);
        assert_eq!(self.answers(&["release", "ada"], 0)["outcome"], "released");
        let ended = json!({ "namespace": "b", "id": "ada", "outcome": "ended", "why": "released" });
        assert_eq!(self.answers(&["take", "ada"], 1), ended);
        assert_eq!(self.answers(&["confirm", "ada"], 1), ended);
        assert_eq!(self.says(&["show", "ada"], 1), "namespace b\nid        ada\noutcome   ended\nwhy       released\n");
        assert_eq!(self.answers(&["take", "bob"], 0)["item"], "A");
    }

    /// Of the items A, B and C: counts, list and audit agree.
    pub(crate) fn is_audited(&self) {
        self.says(&["take", "ada"], 0);
        self.says(&["confirm", "ada"], 0);
        self.says(&["take", "bob"], 0);
        let counts = json!({ "namespace": "b", "free": 1, "held": 1, "spent": 1, "withdrawn": 0, "total": 3 });
        assert_eq!(self.answers(&["counts"], 0), counts);
        assert!(self.says(&["counts"], 0).ends_with("total     3\n"));
        let audit = self.answers(&["audit"], 0);
        assert_eq!(
            (&audit["audit"], &audit["claims_checked"], &audit["counts_checked"]),
            (&json!("ok"), &json!(2), &json!(true))
        );
        assert!(self.says(&["audit"], 0).ends_with("audit          ok\n"));
        let listed = self.says(&["list"], 0);
        assert_eq!(listed.lines().next(), Some("item,state,id"));
        let mut rows: Vec<_> = listed.lines().skip(1).map(|row| row.split_once(',').unwrap().1).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["free,", "held,bob", "spent,ada"]);
        let mut states: Vec<_> = self.says(&["list", "--json"], 0).lines().map(state).collect();
        states.sort_unstable();
        assert_eq!(states, ["free", "held", "spent"]);
        assert_eq!(self.says(&["list", "--limit", "2", "--json"], 0).lines().count(), 2);
    }

    /// Of the items A, B and C: those of a file of ids come free, from a pipe too, and what is spent stays spent.
    pub(crate) fn is_reclaimed(&self) {
        for id in ["ada", "bob", "eve"] {
            self.says(&["take", id], 0);
        }
        self.says(&["confirm", "eve"], 0);
        let reclaim = ["bank", "reclaim", "b", "-", "--json"];
        let answer = self.place.run_with_input(&reclaim, b"ada\nbob\neve\n").exits(1).json();
        assert_eq!([&answer["released"], &answer["confirmed"]], [2, 1]);
        let counts = self.answers(&["counts"], 0);
        assert_eq!([&counts["free"], &counts["spent"]], [2, 1]);
        assert_eq!(self.answers(&["take", "ada"], 1)["outcome"], "ended");
    }

    /// Of the one item of this name, for somebody of this name: both come back byte for byte.
    pub(crate) fn keeps(&self, odd: &str) {
        assert_eq!(self.answers(&["take", odd], 0)["item"], odd);
        assert_eq!(self.answers(&["holder", odd], 0)["id"], odd);
    }

    /// Of no items: some come through a pipe, so that their size is not known and nobody watches, and once more.
    pub(crate) fn is_loaded_twice(&self, count: u64) {
        let items: String = (0..count).map(|n| format!("CODE-{n}\n")).collect();
        for (added, already_there) in [(count, 0), (0, count)] {
            let load = ["bank", "load", "b", "-"];
            let ended = self.place.run_with_input(&load, items.as_bytes()).exits(0);
            assert_eq!([ended.figure("items added"), ended.figure("already there")], [added, already_there]);
            assert_eq!(ended.stderr, "");
        }
        assert_eq!(self.answers(&["counts"], 0)["free"], count);
    }
}

fn state(line: &str) -> String {
    let listed: Value = serde_json::from_str(line).unwrap();
    listed["state"].as_str().unwrap().to_owned()
}

/// The text as a field of CSV.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"\n", text.replace('"', "\"\""))
}
