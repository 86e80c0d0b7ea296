//! `setup`, `ping` and `bank ...`, each on its own store.

use crate::support::Place;

/// Runs a command, and returns its one line of JSON.
#[track_caller]
fn answer(args: &[&str], code: i32) -> serde_json::Value {
    let ended = Place::new().run(&[args, &["--json"]].concat()).exits(code);
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    ended.json()
}

#[test]
fn ping_and_setup_succeed_on_a_memory_store() {
    assert_eq!(answer(&["ping"], 0)["outcome"], "ready");
    assert_eq!(answer(&["setup"], 0)["outcome"], "was_set_up");
    assert_eq!(Place::new().run(&["ping"]).exits(0).stdout, "backend memory\noutcome ready\n");
}

#[test]
fn commands_on_an_empty_bank_exit_with_0() {
    assert_eq!(answer(&["bank", "release", "b", "ada"], 0)["outcome"], "released");
    assert_eq!(answer(&["bank", "counts", "b"], 0)["total"], 0);
    assert_eq!(answer(&["bank", "audit", "b"], 0)["audit"], "ok");
    assert_eq!(Place::new().run(&["bank", "list", "b"]).exits(0).stdout, "item,state,id\n");
    assert_eq!(Place::new().run(&["bank", "list", "b", "--json"]).exits(0).stdout, "");
}

#[test]
fn an_id_that_begins_with_a_dash_needs_a_double_dash() {
    let take = |id: &[&'static str]| [&["bank", "take", "b", "--for", "15m", "--json"], id].concat();
    let ended = Place::new().run(&take(&["--", "-5"])).exits(1);
    assert_eq!(ended.json()["id"], "-5");
    Place::new().run(&take(&["-5"])).exits(2);
}

#[test]
fn a_file_is_loaded() {
    let place = Place::with("code\nA\nA\n\nB\n", "");
    let ended = place.run(&["bank", "load", "b", "--header", "items.csv"]).exits(0);
    let figures = ["items added", "already there", "rejected lines"].map(|key| ended.figure(key));
    assert_eq!(figures, [2, 0, 1]);
    assert_eq!(place.read("items.rejects.csv"), "file,line,reason\nitems.csv,4,empty\n");
    let said = "warning: 1 line could not be used; see items.rejects.csv";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn standard_input_is_loaded() {
    let place = Place::new();
    let ended = place.run_with_input(&["bank", "load", "b", "-"], b"A\n\nB\n").exits(0);
    assert_eq!(ended.figure("items added"), 2);
    assert_eq!(place.read("storagebox.rejects.csv"), "file,line,reason\nstandard input,2,empty\n");
}

#[test]
fn a_load_without_rejected_lines_writes_no_list_of_them() {
    let place = Place::with("A\n", "");
    place.run(&["bank", "load", "b", "items.csv"]).exits(0);
    assert_eq!(place.names(), ["ids.csv", "items.csv"]);
}

#[test]
fn a_load_with_an_unusable_path_is_refused() {
    for (args, because) in [
        (&["none.csv"][..], "none.csv"),
        (&["items.csv", "--rejects", "./items.csv"], "overwrite"),
        (&["items.csv", "--rejects", "none/rejects.csv"], "none"),
    ] {
        let place = Place::with("A\n\n", "");
        let ended = place.run(&[&["bank", "load", "b"], args].concat()).exits(2);
        assert!(ended.stderr.contains("error: ") && ended.stderr.contains(because), "{}", ended.stderr);
        assert!(ended.stderr.contains("\nhelp: "), "{}", ended.stderr);
        assert_eq!(place.read("items.csv"), "A\n\n");
        assert_eq!(place.names(), ["ids.csv", "items.csv"]);
    }
}

#[test]
fn no_progress_is_drawn_without_a_terminal() {
    let items: String = (0..12_345).map(|n| format!("CODE-{n}\n")).collect();
    let ended = Place::with(items, "").run(&["bank", "load", "b", "items.csv"]).exits(0);
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stderr.contains('\r'), "{:?}", ended.stderr);
    assert_eq!(ended.figure("items added"), 12_345);
}
